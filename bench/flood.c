/* Datagrams that nobody wants answered, to a DNS server on loopback, at a rate that does not depend on the server.
 *
 *     flood -k junk|names|queries -p PORT -b FROM -z ZONE [-l LABEL] [-r RATE] [-n SOCKETS] [-t SECONDS] [-m]
 *
 *   junk     random octets of 12 to 100
 *   names    queries for random names below ZONE, as if a resolver was made to ask for them
 *   queries  queries for LABEL.ZONE
 * With -m each socket sends from a network of its own, as if sources were forged: the third octet of FROM is counted up.
 * RATE is in datagrams a second; 0 is as many as this core can send. They leave in groups (UDP GSO). Replies are not read.
 * The result is one line of JSON. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

enum { GROUP = 16, MOST = 320, MAX_SOCKETS = 64, LABEL = 12 };

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static void fail(const char *what) {
    fprintf(stderr, "flood: %s\n", what);
    exit(1);
}

static size_t add_labels(unsigned char *to, const char *name) {
    size_t at = 0;
    while (*name) {
        size_t label = strcspn(name, ".");
        if (label == 0 || label > 63 || at + label > 200)
            fail("a name is too long");
        to[at] = (unsigned char)label;
        memcpy(to + at + 1, name, label);
        at += 1 + label;
        name += label + (name[label] == '.');
    }
    return at;
}

int main(int argument_count, char **arguments) {
    int port = 0, sockets = 16, many = 0;
    double rate = 0, seconds = 2;
    const char *kind = "", *from = "127.0.0.3", *zone = "bench.test", *label = "s000";
    for (int option; (option = getopt(argument_count, arguments, "k:p:b:z:l:r:n:t:m")) != -1;) {
        switch (option) {
        case 'k': kind = optarg; break;
        case 'p': port = atoi(optarg); break;
        case 'b': from = optarg; break;
        case 'z': zone = optarg; break;
        case 'l': label = optarg; break;
        case 'r': rate = atof(optarg); break;
        case 'n': sockets = atoi(optarg); break;
        case 't': seconds = atof(optarg); break;
        case 'm': many = 1; break;
        default: return 64;
        }
    }
    int junk = !strcmp(kind, "junk"), names = !strcmp(kind, "names"), queries = !strcmp(kind, "queries");
    if (!(junk || names || queries) || port <= 0 || sockets < 1 || sockets > MAX_SOCKETS)
        fail("see the first lines of flood.c for what it wants");
    unsigned char query[MOST] = {0, 0, 1, 0, 0, 1};
    size_t length = 12;
    char first[LABEL + 1];
    memset(first, 'x', LABEL);
    first[LABEL] = 0;
    length += add_labels(query + length, names ? first : label);
    length += add_labels(query + length, zone);
    memcpy(query + length, "\0\0\1\0\1", 5);
    length += 5;

    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fds[MAX_SOCKETS];
    for (int i = 0; i < sockets; i++) {
        int little = 2048;
        struct sockaddr_in here = {.sin_family = AF_INET};
        fds[i] = socket(AF_INET, SOCK_DGRAM, 0);
        setsockopt(fds[i], SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
        if (inet_pton(AF_INET, from, &here.sin_addr) != 1)
            fail("that address cannot be sent from");
        here.sin_addr.s_addr = htonl(ntohl(here.sin_addr.s_addr) + (many ? (uint32_t)i << 8 : 0));
        if (bind(fds[i], (struct sockaddr *)&here, sizeof here))
            fail("that address cannot be sent from");
        if (connect(fds[i], (struct sockaddr *)&server, sizeof server) != 0)
            fail("no socket");
    }
    unsigned char out[GROUP * MOST], control[CMSG_SPACE(sizeof(uint16_t))] = {0};
    uint64_t begin = now_ns(), end = begin + (uint64_t)(seconds * 1e9), now, sent = 0;
    for (int turn = 0; (now = now_ns()) < end; turn = (turn + 1) % sockets) {
        if (rate > 0) {
            double due = (double)(now - begin) / 1e9 * rate;
            if ((double)sent > due) {
                struct timespec wait = {0, (long)(((double)sent - due) / rate * 1e9)};
                nanosleep(&wait, NULL);
                continue;
            }
        }
        size_t each = junk ? 12 + next_random() % 89 : length;
        for (int i = 0; i < GROUP; i++) {
            unsigned char *to = out + (size_t)i * each;
            if (junk) {
                for (size_t at = 0; at < each; at += 8) {
                    uint64_t word = next_random();
                    memcpy(to + at, &word, each - at < 8 ? each - at : 8);
                }
                continue;
            }
            uint64_t word = next_random();
            memcpy(to, query, length);
            memcpy(to, &word, 2);
            for (int n = 0; names && n < LABEL; n++)
                to[13 + n] = (unsigned char)('a' + (word >> (16 + 4 * n) & 15));
        }
        struct iovec part = {out, each * GROUP};
        struct msghdr message = {
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = IPPROTO_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        uint16_t segment = (uint16_t)each;
        memcpy(CMSG_DATA(header), &segment, sizeof segment);
        if (sendmsg(fds[turn], &message, 0) >= 0)
            sent += GROUP;
        else if (errno != EAGAIN && errno != ENOBUFS && errno != ECONNREFUSED) {
            perror("flood: sendmsg");
            return 1;
        }
    }
    printf("{\"sent\": %llu, \"rate\": %.0f}\n", (unsigned long long)sent, (double)sent / ((double)(now - begin) / 1e9));
    return 0;
}
