#define BACKEND "epoll"
#include "backend_suite.h"
