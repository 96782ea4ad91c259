#pragma once

#include <stdlib.h>

/*
 * Core's allocator: plain malloc, never Ruby's. Core code also runs where the GVL is not held, and Ruby's allocator may
 * start the garbage collector. The code in ruby/ reports large buffers to Ruby's collector.
 */
#define pel_malloc(size) malloc(size)
#define pel_calloc(count, size) calloc(count, size)
#define pel_realloc(pointer, size) realloc(pointer, size)
#define pel_free(pointer) free(pointer)
