/* register_names.h -- what debuggers call the registers of each machine. */
#ifndef TRAIL_REGISTER_NAMES_H
#define TRAIL_REGISTER_NAMES_H

#include "core/capture/arch.h"

/* Of the register with this DWARF number, or the pc's place in struct trail_registers;
 * NULL: it has no name. Async-signal-safe. */
const char *trail_register_name(const struct trail_machine *machine, unsigned number);

#endif
