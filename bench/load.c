/* Load generator for DNS over UDP on loopback: a closed loop, so that it asks exactly as fast as it is answered.
 *
 *     load [-e | -s] [-x] [-r] [-n SOCKETS] [-w WINDOW] [-W SECONDS] [-t SECONDS] [-P PID,PID...] -p PORT -f FILE
 *
 * FILE has a line "NAME TYPE" for each query (type A or AAAA), all names of one length: then a group of queries leaves
 * in one system call (UDP GSO), and one core of load keeps one core of server busy.
 *   -e  an OPT record       -s  an OPT record with a random client subnet of 24 bits
 *   -x  the other end is a bare echo: nothing but the id is checked
 *   -r  replies may be of any kind (refused, without answer); only id, QR and question are checked
 *   -P  processes whose processor time is counted
 * Each reply is checked: id, QR, the question as it was asked, NOERROR, an address, and an OPT record if there was one.
 * The result is one line of JSON. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
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

enum {
    GROUP = 16,       /* queries of one system call */
    TAKE = 64,        /* replies of one system call */
    QUERY = 320,      /* octets of a query at most */
    REPLY = 1500,     /* octets of a reply at most */
    MAX_WINDOW = 64,  /* the lower 6 bits of an id */
    MAX_SOCKETS = 64,
    LOST_MS = 300,    /* a reply that takes longer does not come */
    BUCKETS = 64 * 16,
};

typedef struct {
    unsigned char octets[QUERY];
} query;

/* A place in the window of a socket. */
typedef struct {
    uint64_t sent;
    uint32_t asked; /* which query */
    uint16_t turn;  /* upper 10 bits of the id: a late reply is not taken for another */
    uint8_t busy;
} place;

typedef struct {
    int fd;
    place places[MAX_WINDOW];
    uint8_t free[MAX_WINDOW];
    int free_count;
} client;

typedef struct {
    uint64_t answered, lost, stray, bad;
} counts;

static query *queries;
static size_t query_count, query_length, question_end;
static int with_opt, with_subnet, echo, any_reply;
static uint64_t times[BUCKETS];
static uint64_t random_state = 88172645463325252ull;

static uint64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint64_t next_random(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Sixteen buckets to each power of two. */
static void note_time(uint64_t ns) {
    if (ns < 16)
        ns = 16;
    int power = 63 - __builtin_clzll(ns);
    times[power * 16 + (int)((ns >> (power - 4)) & 15)]++;
}

static double percentile_us(double share) {
    uint64_t total = 0, seen = 0;
    for (int i = 0; i < BUCKETS; i++)
        total += times[i];
    for (int i = 0; i < BUCKETS; i++) {
        seen += times[i];
        if (total && (double)seen >= share * (double)total)
            return (double)((1ull << (i / 16)) + ((uint64_t)(i % 16) << (i / 16 - 4))) / 1000.0;
    }
    return 0;
}

/* Nanoseconds that all threads of the processes have run. */
static uint64_t processor_ns(const char *list) {
    uint64_t sum = 0;
    char copy[512], path[600];
    snprintf(copy, sizeof copy, "%s", list ? list : "");
    for (char *pid = strtok(copy, ","); pid; pid = strtok(NULL, ",")) {
        snprintf(path, sizeof path, "/proc/%s/task", pid);
        DIR *tasks = opendir(path);
        if (!tasks)
            continue;
        for (struct dirent *task; (task = readdir(tasks));) {
            if (task->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "/proc/%s/task/%s/schedstat", pid, task->d_name);
            FILE *file = fopen(path, "r");
            unsigned long long ran = 0;
            if (file && fscanf(file, "%llu", &ran) == 1)
                sum += ran;
            if (file)
                fclose(file);
        }
        closedir(tasks);
    }
    return sum;
}

static void fail(const char *what) {
    fprintf(stderr, "load: %s\n", what);
    exit(1);
}

static void put16(unsigned char *at, unsigned value) {
    at[0] = (unsigned char)(value >> 8);
    at[1] = (unsigned char)value;
}

static size_t build(query *to, const char *name, int type) {
    unsigned char *q = to->octets;
    memset(q, 0, QUERY);
    q[2] = 1; /* RD, as resolvers of old do and testers always */
    put16(q + 4, 1);
    size_t at = 12;
    while (*name) {
        size_t label = strcspn(name, ".");
        if (label > 63 || at + label > 255)
            fail("a name is too long");
        q[at] = (unsigned char)label;
        memcpy(q + at + 1, name, label);
        at += 1 + label;
        name += label + (name[label] == '.');
    }
    at++;
    put16(q + at, (unsigned)type);
    put16(q + at + 2, 1);
    at += 4;
    question_end = at;
    if (with_opt) {
        put16(q + 10, 1);
        put16(q + at + 1, 41);
        put16(q + at + 3, 1232);
        at += 11;
        if (with_subnet) {
            put16(q + at - 2, 11);
            put16(q + at, 8);
            put16(q + at + 2, 7);
            put16(q + at + 4, 1);
            q[at + 6] = 24;
            at += 11;
        }
    }
    return at;
}

static void read_queries(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file)
        fail("the file of queries cannot be read");
    char name[256], type[16];
    size_t room = 0;
    while (fscanf(file, "%255s %15s", name, type) == 2) {
        if (query_count == room) {
            room = room ? room * 2 : 1024;
            queries = realloc(queries, room * sizeof *queries);
            if (!queries)
                fail("no memory");
        }
        size_t length = build(&queries[query_count++], name, strcmp(type, "AAAA") == 0 ? 28 : 1);
        if (query_length && length != query_length)
            fail("the names are not of one length");
        query_length = length;
    }
    fclose(file);
    if (!query_count)
        fail("there are no queries");
}

static void ask(client *c, unsigned *next) {
    unsigned char out[GROUP * QUERY], control[CMSG_SPACE(sizeof(uint16_t))] = {0};
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    size_t length = 0;
    for (int i = 0; i < GROUP; i++) {
        int index = c->free[--c->free_count];
        place *p = &c->places[index];
        p->busy = 1;
        p->turn = (p->turn + 1) & 1023;
        p->sent = now;
        p->asked = *next;
        *next = *next + 1 == query_count ? 0 : *next + 1;
        unsigned char *q = out + length;
        memcpy(q, queries[p->asked].octets, query_length);
        put16(q, (unsigned)(p->turn << 6 | index));
        if (with_subnet) {
            uint64_t random = next_random();
            q[query_length - 3] = (unsigned char)(1 + (random & 0xffff) % 223);
            put16(q + query_length - 2, (unsigned)(random >> 16 & 0xffff));
        }
        length += query_length;
    }
    struct iovec part = {out, length};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t segment = (uint16_t)query_length;
    memcpy(CMSG_DATA(header), &segment, sizeof segment);
    if (sendmsg(c->fd, &message, 0) < 0 && errno != EAGAIN && errno != ENOBUFS && errno != ECONNREFUSED) {
        perror("load: sendmsg");
        exit(1);
    }
}

static int is_right(const unsigned char *reply, size_t length, const place *p) {
    if (echo)
        return 1;
    const unsigned char *asked = queries[p->asked].octets;
    if (length < question_end || !(reply[2] & 0x80) || memcmp(reply + 12, asked + 12, question_end - 12) != 0)
        return 0;
    return any_reply || ((reply[3] & 15) == 0 && reply[7] > 0 && reply[11] >= with_opt);
}

static void hear(client *c, counts *n) {
    static unsigned char data[TAKE][REPLY];
    static struct iovec parts[TAKE];
    static struct mmsghdr headers[TAKE];
    for (int i = 0; i < TAKE; i++) {
        parts[i] = (struct iovec){data[i], REPLY};
        headers[i].msg_hdr = (struct msghdr){.msg_iov = &parts[i], .msg_iovlen = 1};
    }
    int received = recvmmsg(c->fd, headers, TAKE, MSG_DONTWAIT, NULL);
    uint64_t now = received > 0 ? clock_ns(CLOCK_MONOTONIC) : 0;
    for (int i = 0; i < received; i++) {
        const unsigned char *reply = data[i];
        size_t length = headers[i].msg_len;
        unsigned id = length >= 12 ? (unsigned)(reply[0] << 8 | reply[1]) : 0;
        place *p = &c->places[id & (MAX_WINDOW - 1)];
        if (length < 12 || !p->busy || p->turn != id >> 6) {
            n->stray++;
            continue;
        }
        p->busy = 0;
        c->free[c->free_count++] = (uint8_t)(id & (MAX_WINDOW - 1));
        note_time(now - p->sent);
        n->answered++;
        n->bad += !is_right(reply, length, p);
    }
}

static void give_up(client *c, counts *n, int window) {
    uint64_t now = clock_ns(CLOCK_MONOTONIC);
    for (int i = 0; i < window; i++) {
        place *p = &c->places[i];
        if (p->busy && now - p->sent > LOST_MS * 1000000ull) {
            p->busy = 0;
            c->free[c->free_count++] = (uint8_t)i;
            n->lost++;
        }
    }
}

int main(int argument_count, char **arguments) {
    int port = 0, sockets = 16, window = 16;
    double warm = 0.5, seconds = 2;
    const char *file = NULL, *pids = NULL, *from = NULL;
    for (int option; (option = getopt(argument_count, arguments, "esxrn:w:W:t:P:p:f:b:")) != -1;) {
        switch (option) {
        case 'e': with_opt = 1; break;
        case 's': with_opt = with_subnet = 1; break;
        case 'x': echo = 1; break;
        case 'r': any_reply = 1; break;
        case 'n': sockets = atoi(optarg); break;
        case 'w': window = atoi(optarg); break;
        case 'W': warm = atof(optarg); break;
        case 't': seconds = atof(optarg); break;
        case 'P': pids = optarg; break;
        case 'p': port = atoi(optarg); break;
        case 'f': file = optarg; break;
        case 'b': from = optarg; break;
        default: return 64;
        }
    }
    if (!file || port <= 0 || sockets < 1 || sockets > MAX_SOCKETS || window < GROUP || window > MAX_WINDOW)
        fail("see the first lines of load.c for what it wants");
    read_queries(file);
    client *clients = calloc((size_t)sockets, sizeof *clients);
    struct sockaddr_in server = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (int i = 0; i < sockets; i++) {
        client *c = &clients[i];
        int queue = 4 << 20;
        c->fd = socket(AF_INET, SOCK_DGRAM, 0);
        setsockopt(c->fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
        struct sockaddr_in here = {.sin_family = AF_INET};
        if (from && (inet_pton(AF_INET, from, &here.sin_addr) != 1 || bind(c->fd, (struct sockaddr *)&here, sizeof here)))
            fail("that address cannot be sent from");
        if (connect(c->fd, (struct sockaddr *)&server, sizeof server) != 0)
            fail("no socket");
        for (int index = 0; index < window; index++)
            c->free[c->free_count++] = (uint8_t)index;
    }
    counts n = {0};
    unsigned next = 0;
    uint64_t start = clock_ns(CLOCK_MONOTONIC), begin = start + (uint64_t)(warm * 1e9), end = UINT64_MAX;
    uint64_t look = start, ran = 0, own = 0, now;
    while ((now = clock_ns(CLOCK_MONOTONIC)) < end) {
        if (end == UINT64_MAX && now >= begin) {
            n = (counts){0};
            memset(times, 0, sizeof times);
            ran = processor_ns(pids);
            own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
            begin = clock_ns(CLOCK_MONOTONIC);
            end = begin + (uint64_t)(seconds * 1e9);
        }
        int late = now > look;
        if (late)
            look = now + 50000000ull;
        for (int i = 0; i < sockets; i++) {
            if (late)
                give_up(&clients[i], &n, window);
            if (clients[i].free_count >= GROUP)
                ask(&clients[i], &next);
            hear(&clients[i], &n);
        }
    }
    ran = processor_ns(pids) - ran;
    own = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own;
    double took = (double)(now - begin), answered = n.answered ? (double)n.answered : 1;
    printf("{\"qps\": %.0f, \"lost\": %llu, \"stray\": %llu, \"bad\": %llu, \"cpu_ns\": %.0f, \"server_busy\": %.3f, "
           "\"load_busy\": %.3f, \"p50_us\": %.1f, \"p99_us\": %.1f}\n",
           (double)n.answered / took * 1e9, (unsigned long long)n.lost, (unsigned long long)n.stray,
           (unsigned long long)n.bad, (double)ran / answered, (double)ran / took, (double)own / took,
           percentile_us(0.5), percentile_us(0.99));
    return 0;
}
