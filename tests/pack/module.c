/* module.c -- a module to load and unload; built several times, so that they have one
 * layout. */
#include "backtrail/base.h"

TRAIL_EXPORT int module_number(void);

int module_number(void)
{
    return MODULE_NUMBER;
}
