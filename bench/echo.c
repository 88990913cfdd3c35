/* The limit that servers are measured against: takes datagrams in batches and sends them back as they came.
 *
 *     echo PORT
 *
 * One thread, loopback only, until it is killed. A server that does anything at all cannot be faster. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { BATCH = 16, SIZE = 1280 };

static unsigned char data[BATCH][SIZE];

int main(int count, char **arguments) {
    if (count != 2) {
        fprintf(stderr, "usage: echo PORT\n");
        return 64;
    }
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(arguments[1]))};
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&here, sizeof here) != 0) {
        perror("bind");
        return 1;
    }
    int queue = 1 << 20;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &queue, sizeof queue);
    struct sockaddr_in peers[BATCH];
    struct iovec parts[BATCH];
    struct mmsghdr headers[BATCH];
    memset(headers, 0, sizeof headers);
    for (int i = 0; i < BATCH; i++) {
        parts[i].iov_base = data[i];
        headers[i].msg_hdr.msg_name = &peers[i];
        headers[i].msg_hdr.msg_iov = &parts[i];
        headers[i].msg_hdr.msg_iovlen = 1;
    }
    for (;;) {
        for (int i = 0; i < BATCH; i++) {
            parts[i].iov_len = SIZE;
            headers[i].msg_hdr.msg_namelen = sizeof peers[i];
        }
        int received = recvmmsg(fd, headers, BATCH, MSG_WAITFORONE, NULL);
        for (int i = 0; i < received; i++)
            parts[i].iov_len = headers[i].msg_len;
        for (int sent = 0; sent < received;) {
            int now = sendmmsg(fd, headers + sent, (unsigned)(received - sent), 0);
            sent += now > 0 ? now : 1;
        }
    }
}
