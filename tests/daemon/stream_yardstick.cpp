// The minimum cost of sending the same to many readers: a loop that writes the same number of bytes to each of their
// sockets.
//   stream_yardstick SOCKET READERS HERTZ SECONDS BYTES
// Waits for the readers to connect, writes to them for SECONDS, prints the processor time used, and ends with its
// input.

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

double processor_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    return 2;
  }
  const std::size_t readers = std::strtoul(argv[2], nullptr, 10);
  const long hertz = std::strtol(argv[3], nullptr, 10);
  const long rounds = hertz * std::strtol(argv[4], nullptr, 10);
  std::string piece(std::strtoul(argv[5], nullptr, 10), 'x');
  piece.back() = '\n';
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, argv[1], sizeof address.sun_path - 1);
  if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 1024) != 0) {
    std::perror("stream_yardstick");
    return 1;
  }
  std::puts("ready");
  std::fflush(stdout);
  std::vector<int> sockets;
  while (sockets.size() < readers) {
    sockets.push_back(::accept(listener, nullptr, nullptr));
  }
  timespec next{};
  ::clock_gettime(CLOCK_MONOTONIC, &next);
  const double before = processor_time();
  for (long round = 0; round < rounds; ++round) {
    next.tv_nsec += 1'000'000'000 / hertz;
    next.tv_sec += next.tv_nsec / 1'000'000'000;
    next.tv_nsec %= 1'000'000'000;
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    for (const int socket : sockets) {
      if (::send(socket, piece.data(), piece.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE &&
          errno != ECONNRESET) {
        std::perror("stream_yardstick");
        return 1;
      }
    }
  }
  std::printf("%.6f\n", processor_time() - before);
  std::fflush(stdout);
  return std::getchar() == EOF ? 0 : 1;  // the sockets are open until then
}
