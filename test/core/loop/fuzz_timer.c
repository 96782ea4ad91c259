#include "loop/timer_model.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *program, size_t length)
{
    static struct model model;
    const char *wrong = model_run(&model, program, length);

    if (wrong) {
        fprintf(stderr, "%s, %zu bytes before the end\n", wrong, model.left);
        abort();
    }
    return 0;
}
