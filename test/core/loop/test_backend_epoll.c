#ifdef HAVE_SYS_EPOLL_H
#define BACKEND "epoll"
#include "loop/backend_events_suite.h"
#include "loop/backend_wait_suite.h"
#else
#include "check.h"

TEST(the_backend_does_what_every_backend_must)
{
    SKIP("this system has no epoll");
}
#endif
