// The load on a service of batch sizes by the existing package's clients: connections that ask it for batch sizes and
// report epochs, each with one request under way. The requests are that package's, so that its own server gets the same
// ones. Prints one line of JSON for bench/server_throughput_bench.py.
//
//   server_load PREFIX JOBS CONNECTIONS ROUNDS PORT...
//
// It registers the jobs; each round runs one trial of every job, or as many as there are connections if these are more,
// of three epochs. The connections are spread in turn over the servers at these ports.

#include "base/file_descriptor.hpp"
#include "bench/round_trips.hpp"
#include "records/json_value.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace zeus;

constexpr std::size_t most_connections = 256;
constexpr int epochs = 3;

struct Trial {
  std::string job;
  int batch_size = 0;
  std::uint64_t number = 0;  // 0: none
};

struct Reply {
  int status = 0;
  std::string_view body;
};

std::string post(std::string_view path, std::string_view body) {
  return fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", path, body.size(), body);
}

std::string registration(const std::string& prefix, const std::string& job) {
  return post("/jobs", fmt::format(R"({{"job_id":"{}","job_id_prefix":"{}","batch_sizes":[8,16,32,64,128],)"
                                   R"("default_batch_size":32,"eta_knob":0.5,"beta_knob":2.0,"target_metric":0.9,)"
                                   R"("higher_is_better_metric":true,"max_epochs":100,"num_pruning_rounds":2,)"
                                   R"("window_size":0,"mab_num_explorations":2,"mab_seed":1,"max_power":300.0,)"
                                   R"("number_of_gpus":1,"gpu_model":"V100"}})",
                                   job, prefix));
}

std::string question(const Trial& trial) {
  return fmt::format("GET /jobs/batch_size?job_id={} HTTP/1.1\r\nHost: localhost\r\n\r\n", trial.job);
}

// Costs scatter by trial; none is high enough to be stopped.
std::string report(const Trial& trial, int epoch) {
  const double seconds = epoch * (60.0 + static_cast<double>(trial.number * 7 % 11));
  return post(
      "/report",
      fmt::format(R"({{"job_id":"{}","batch_size":{},"trial_number":{},"time":{},"energy":{},"max_power":300.0,)"
                  R"("metric":{},"current_epoch":{}}})",
                  trial.job, trial.batch_size, trial.number, seconds, 200 * seconds, epoch < epochs ? 0.5 : 0.95,
                  epoch));
}

FileDescriptor connect_to_port(std::uint16_t port) {
  FileDescriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    throw system_failure(errno, "cannot connect");
  }
  const int at_once = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
  return socket;
}

// Parses an answer, whose length is in its head; empty until it is complete.
std::optional<Reply> whole_reply(std::string_view received) {
  const std::size_t head = received.find("\r\n\r\n");
  if (head == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::string_view name{"content-length:"};
  const std::string_view lines = received.substr(0, head);
  const auto same = [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); };
  const auto found = std::search(lines.begin(), lines.end(), name.begin(), name.end(),
                                 [&](char of_line, char of_name) { return same(of_name, of_line); });
  if (found == lines.end()) {
    throw Error{ErrorKind::unavailable, fmt::format("an answer of no length: {}", lines)};
  }
  const char* digits = &*found + name.size();
  digits += *digits == ' ' ? 1 : 0;
  std::size_t length = 0;
  std::from_chars(digits, lines.data() + lines.size(), length);
  if (received.size() < head + 4 + length) {
    return std::nullopt;
  }
  int status = 0;
  std::from_chars(lines.data() + lines.find(' ') + 1, lines.data() + lines.size(), status);
  return Reply{.status = status, .body = received.substr(head + 4, length)};
}

// Requests of one kind: how long each took, over all rounds.
struct Sort {
  std::vector<double> microseconds;
  double seconds = 0;
  int failed = 0;

  [[nodiscard]] std::string json() const {
    const bench::Times times = bench::times_of(microseconds);
    return fmt::format(R"({{"rate":{},"p50_ms":{},"p99_ms":{},"most_ms":{},"requests":{},"failed":{}}})",
                       static_cast<double>(microseconds.size()) / seconds, times.p50 / 1e3, times.p99 / 1e3,
                       std::ranges::max(microseconds) / 1e3, microseconds.size(), failed);
  }
};

using Answered = std::function<void(std::size_t request, const Reply& reply)>;

class Load {
 public:
  Load(std::size_t connections, std::vector<std::uint16_t> ports)
      : connections_{connections}, ports_{std::move(ports)} {}

  // Each connection takes the next request when its last one is answered.
  void run(const std::vector<std::string>& requests, Sort& sort, const Answered& answered) {
    std::vector<Connection> open;
    const FileDescriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
    for (std::size_t i = 0; i < std::min(connections_, requests.size()); ++i) {
      open.push_back({.socket = connect_to_port(ports_.at(i % ports_.size()))});
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, open.back().socket.get(), &event);
    }
    std::size_t next = 0;
    std::size_t done = 0;
    const auto send_next = [&](Connection& connection) {
      if (next < requests.size()) {
        connection.request = next++;
        connection.received.clear();
        connection.sent = bench::Time::now();
        write_all(connection.socket, requests.at(connection.request), "a request");
      } else {
        connection.is_idle = true;
      }
    };
    const bench::Time::time_point start = bench::Time::now();
    std::ranges::for_each(open, send_next);
    std::array<epoll_event, most_connections> events{};
    std::array<char, 16384> bytes{};
    while (done < requests.size()) {
      const int ready = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < ready; ++i) {
        Connection& connection = open.at(events.at(static_cast<std::size_t>(i)).data.u64);
        const ssize_t length = ::recv(connection.socket.get(), bytes.data(), bytes.size(), 0);
        if (length <= 0 && connection.is_idle) {  // the existing server closes it after some seconds
          ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, connection.socket.get(), nullptr);
          continue;
        }
        if (length <= 0) {
          throw Error{ErrorKind::unavailable, "the server has hung up"};
        }
        connection.received.append(bytes.data(), static_cast<std::size_t>(length));
        if (const std::optional<Reply> reply = whole_reply(connection.received)) {
          sort.microseconds.push_back(bench::seconds_since(connection.sent) * 1e6);
          sort.failed += reply->status / 100 == 2 ? 0 : 1;
          answered(connection.request, *reply);
          ++done;
          send_next(connection);
        }
      }
    }
    sort.seconds += bench::seconds_since(start);
  }

 private:
  struct Connection {
    FileDescriptor socket;
    std::size_t request = 0;
    std::string received;
    bench::Time::time_point sent;
    bool is_idle = false;
  };

  std::size_t connections_;
  std::vector<std::uint16_t> ports_;
};

void load(const std::string& prefix, std::size_t jobs, std::size_t connections, int rounds,
          std::vector<std::uint16_t> ports) {
  std::vector<Trial> trials;
  std::vector<std::string> requests;
  for (std::size_t number = 0; number < std::max(jobs, connections); ++number) {
    trials.push_back({.job = fmt::format("{}-{:05}", prefix, number % jobs)});
    if (number < jobs) {
      requests.push_back(registration(prefix, trials.back().job));
    }
  }
  Load load{connections, std::move(ports)};
  Sort registered;
  Sort asked;
  Sort reported;
  load.run(requests, registered, [](std::size_t, const Reply&) {});
  for (int round = 0; round < rounds; ++round) {
    requests.clear();
    std::ranges::transform(trials, std::back_inserter(requests), question);
    load.run(requests, asked, [&](std::size_t which, const Reply& reply) {
      trials[which].number = 0;
      if (const auto trial = records::JsonValue::parse(reply.body); trial && reply.status == 200) {
        trials[which].batch_size = (*trial)["batch_size"].whole<int>().value();
        trials[which].number = (*trial)["trial_number"].whole<std::uint64_t>().value();
      }
    });
    for (int epoch = 1; epoch <= epochs; ++epoch) {
      requests.clear();
      for (const Trial& trial : trials) {
        if (trial.number != 0) {
          requests.push_back(report(trial, epoch));
        }
      }
      load.run(requests, reported, [](std::size_t, const Reply&) {});
    }
  }
  if (rounds == 0) {
    fmt::print("{{\"registered\":{}}}\n", registered.json());
  } else {
    fmt::print("{{\"registered\":{},\"asked\":{},\"reported\":{}}}\n", registered.json(), asked.json(),
               reported.json());
  }
}

}  // namespace

int main(int count, char** words) {
  try {
    std::vector<std::uint16_t> ports;
    for (int i = 5; i < count; ++i) {
      ports.push_back(static_cast<std::uint16_t>(std::stoi(words[i])));
    }
    load(words[1], std::stoul(words[2]), std::min(most_connections, std::stoul(words[3])), std::stoi(words[4]),
         std::move(ports));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
