#include "sweep/engine.hpp"

#include "base/background_thread.hpp"
#include "base/file_descriptor.hpp"
#include "base/group_command.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace zeus::sweep {

namespace {

constexpr std::size_t most_asked_at_a_time = 64;

class LocalEngine final : public Engine {
 public:
  explicit LocalEngine(std::filesystem::path program) : program_{std::move(program)} {}

  [[nodiscard]] std::vector<std::string> command(const Place& /*place*/) const override {
    return {program_.string(), "sweep", "run"};
  }
  [[nodiscard]] std::map<std::string, std::string> problems(const std::vector<Place>& /*places*/) const override {
    return {};
  }

 private:
  std::filesystem::path program_;
};

std::string last_line(std::string_view text) {
  std::string last;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      last = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    }
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return printable(shortened(last, 300));
}

class SshEngine final : public Engine {
 public:
  SshEngine(const Environment& environment, std::string version)
      : environment_{environment}, version_{std::move(version)} {
    // Short, since the name of a socket may have no more than some 100 letters.
    std::string folder = "/tmp/zeus-sweep-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) {
      throw system_failure(errno, "cannot make a folder in /tmp for connections");
    }
    sockets_ = folder;
  }
  SshEngine(const SshEngine&) = delete;
  SshEngine& operator=(const SshEngine&) = delete;
  ~SshEngine() override {
    for (const std::string& host : connected_) {
      (void)ssh(host, {"-O", "exit"}, "", Seconds{5});
    }
    std::error_code ignored;
    std::filesystem::remove_all(sockets_, ignored);
  }

  [[nodiscard]] std::vector<std::string> command(const Place& place) const override {
    return words(place.host, {}, remote(place, "sweep run"));
  }

  [[nodiscard]] std::map<std::string, std::string> problems(const std::vector<Place>& places) const override {
    std::map<std::string, std::string> found;  // each has its host before threads begin, so none changes the map
    std::map<std::string, const Place*> hosts;
    for (const Place& place : places) {
      hosts.emplace(place.host, &place);
      found.emplace(place.host, "");
    }
    std::vector<std::thread> threads;
    threads.reserve(most_asked_at_a_time);
    const auto join_all = [&threads] {
      std::ranges::for_each(threads, &std::thread::join);
      threads.clear();
    };
    for (const auto& [host, place] : hosts) {
      {
        const std::lock_guard lock{mutex_};
        connected_.insert(host);
      }
      const auto ask = [this, place = place, &problem = found.at(host)] { problem = problem_of(*place); };
      if (threads.size() == most_asked_at_a_time) {
        join_all();
      }
      try {
        threads.push_back(background_thread(ask));
      } catch (const std::system_error&) {  // no more threads here
        ask();
      }
    }
    join_all();
    std::erase_if(found, [](const auto& one) { return one.second.empty(); });
    return found;
  }

 private:
  static std::string remote(const Place& place, const std::string& words) {
    return fmt::format("exec {} {}", shell_quoted(place.program), words);
  }

  [[nodiscard]] std::vector<std::string> words(const std::string& host, std::initializer_list<std::string> options,
                                               const std::string& remote_command) const {
    std::vector<std::string> all{"ssh"};
    // No question is asked, as nothing could answer it; a dead connection is noticed; the shared connection outlives
    // this process by half a minute at most.
    for (const std::string_view option :
         {"BatchMode=yes", "ControlMaster=auto", "ControlPersist=30", "ConnectTimeout=15", "ServerAliveInterval=10",
          "ServerAliveCountMax=3", "RequestTTY=no", "ForwardX11=no", "LogLevel=ERROR"}) {
      all.insert(all.end(), {"-o", std::string{option}});
    }
    all.insert(all.end(), {"-o", fmt::format("ControlPath={}/%C", sockets_.string())});
    all.insert(all.end(), options);
    all.insert(all.end(), {"--", host});
    if (!remote_command.empty()) {
      all.push_back(remote_command);
    }
    return all;
  }

  [[nodiscard]] GroupCommandEnd ssh(const std::string& host, std::initializer_list<std::string> options,
                                    const std::string& remote_command, Seconds patience) const {
    return run_to_end(
        {.words = words(host, options, remote_command), .environment = environment_, .patience = patience});
  }

  // Empty if there is none. Throws nothing.
  [[nodiscard]] std::string problem_of(const Place& place) const {
    try {
      const GroupCommandEnd end = ssh(place.host, {}, remote(place, "--version"), Seconds{40});
      return problem_in(end, place);
    } catch (const Error& error) {
      return error.what();
    }
  }

  [[nodiscard]] std::string problem_in(const GroupCommandEnd& end, const Place& place) const {
    const std::string said = last_line(end.errors);
    switch (end.how) {
      case GroupCommandEnd::How::not_started:
        return "the program `ssh` cannot be started: install OpenSSH's client";
      case GroupCommandEnd::How::timed_out:
        return "it does not answer within 40 s";
      case GroupCommandEnd::How::killed:
        return fmt::format("ssh was ended by signal {}", end.code);
      case GroupCommandEnd::How::exited:
        break;
    }
    if (end.code == 255) {
      return fmt::format("it cannot be reached: {} (`ssh {}` must work without a question)", said, place.host);
    }
    if (end.code == 126 || end.code == 127) {
      return fmt::format("it has no program {}: install Zeus {} there, or name its path by `zeus: {{program: PATH}}`",
                         in_quotes(place.program), version_);
    }
    const std::string answer = last_line(end.output);
    if (end.code != 0 || answer != "zeus " + version_) {
      return fmt::format("its {} says {}, and this is Zeus {}: install the same version", in_quotes(place.program),
                         in_quotes(answer.empty() ? said : answer), version_);
    }
    return {};
  }

  Environment environment_;
  std::string version_;
  std::filesystem::path sockets_;
  mutable std::mutex mutex_;  // of `connected_`
  mutable std::set<std::string> connected_;
};

}  // namespace

std::unique_ptr<Engine> make_local_engine(std::filesystem::path program) {
  return std::make_unique<LocalEngine>(std::move(program));
}

std::unique_ptr<Engine> make_ssh_engine(const Environment& environment, std::string version) {
  return std::make_unique<SshEngine>(environment, std::move(version));
}

}  // namespace zeus::sweep
