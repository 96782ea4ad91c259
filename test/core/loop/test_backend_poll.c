#define BACKEND "poll"
#include "loop/backend_events_suite.h"
#include "loop/backend_wait_suite.h"
