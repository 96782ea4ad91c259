#define BACKEND "poll"
#include "backend_suite.h"
