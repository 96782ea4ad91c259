/*
 * Asks libmemcached itself where keys go.
 *
 *   libmemcached_placement POINTS HASH HOST PORT WEIGHT ... <keys >places
 *
 * POINTS: weighted, equal, or first (as equal, but set before the servers are added); HASH: one of libmemcached's
 * numbers; a HOST that begins with / is a UNIX socket. The keys are lines; each is answered by one byte, its server's
 * place among those given.
 */
#include <libmemcached/memcached.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(memcached_return_t code)
{
    if (code == MEMCACHED_SUCCESS)
        return;
    fprintf(stderr, "%s\n", memcached_strerror(NULL, code));
    exit(1);
}

int main(int argc, char **argv)
{
    memcached_st *memcached = memcached_create(NULL);
    char key[512];

    if (argc < 6)
        return 2;
    if (!strcmp(argv[1], "first"))
        must(memcached_behavior_set(memcached, MEMCACHED_BEHAVIOR_KETAMA, 1));
    for (int i = 3; i + 2 < argc; i += 3) {
        unsigned weight = (unsigned)atoi(argv[i + 2]);
        if (argv[i][0] == '/')
            must(memcached_server_add_unix_socket_with_weight(memcached, argv[i], weight));
        else
            must(memcached_server_add_with_weight(memcached, argv[i], (in_port_t)atoi(argv[i + 1]), weight));
    }
    if (strcmp(argv[1], "first"))
        must(memcached_behavior_set(
            memcached, strcmp(argv[1], "equal") ? MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED : MEMCACHED_BEHAVIOR_KETAMA, 1));
    must(memcached_behavior_set(memcached, MEMCACHED_BEHAVIOR_HASH, (uint64_t)atoi(argv[2])));
    if (!strcmp(argv[1], "equal")) /* its points are hashed by the function just set: place them again */
        must(memcached_behavior_set(memcached, MEMCACHED_BEHAVIOR_KETAMA, 1));
    while (fgets(key, sizeof(key), stdin))
        putchar((int)memcached_generate_hash(memcached, key, strlen(key) - 1));
    memcached_free(memcached);
    return 0;
}
