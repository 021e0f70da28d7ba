/* image.h -- a trace's modules as Sentry's debug images, by which symbols are found. */
#ifndef HTTP_IMAGE_H
#define HTTP_IMAGE_H

#include "json.h"

/* Where an image begins: what addresses in it are counted from. */
uint64_t image_address(const json_t *module);
/* An array with one image for each module; NULL without memory. */
json_t *image_list(const json_t *trace);
/* Addresses travel as text: "0x1f". 0 for anything else. */
uint64_t address_of(const json_t *text);

#endif
