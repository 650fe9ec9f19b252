#include "base/group_command.hpp"

#include "base/file_descriptor.hpp"
#include "base/group_child.hpp"
#include "base/poll_deadline.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

namespace zeus {

namespace {

using How = GroupCommandEnd::How;

struct Stream {
  FileDescriptor source;
  std::string* kept;
};

// Reads what is there, and closes a stream that no process can write to any more.
void read_some(Stream& stream, std::size_t most, bool& cut) {
  std::array<char, 16'384> buffer{};
  const ssize_t count = ::read(stream.source.get(), buffer.data(), buffer.size());
  if (count > 0) {
    const std::size_t room = most - stream.kept->size();
    stream.kept->append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
    cut = cut || static_cast<std::size_t>(count) > room;
  } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
    stream.source.close();
  }
}

// Returns when the child has ended and no process has the streams any more, or when patience is over.
void follow(const GroupChild& child, std::array<Stream, 2>& streams, const GroupCommand& command,
            GroupCommandEnd& end) {
  auto deadline = deadline_after(command.patience);
  bool has_ended = false;
  while (!has_ended || streams[0].source || streams[1].source) {
    std::array<pollfd, 3> asked{{{.fd = streams[0].source.get(), .events = POLLIN, .revents = 0},
                                 {.fd = streams[1].source.get(), .events = POLLIN, .revents = 0},
                                 {.fd = has_ended ? -1 : child.ended().get(), .events = POLLIN, .revents = 0}}};
    const int ready = ::poll(asked.data(), asked.size(), milliseconds_until(deadline));
    for (std::size_t i = 0; ready > 0 && i < streams.size(); ++i) {
      if (asked[i].revents != 0) {
        read_some(streams[i], command.most, end.cut);
      }
    }
    if (ready > 0 && asked[2].revents != 0) {
      has_ended = true;
      deadline = deadline_after(command.linger);
    } else if (is_over(deadline)) {
      end.how = has_ended ? How::exited : How::timed_out;
      end.abandoned = has_ended;
      return;
    }
  }
  end.how = How::exited;
}

}  // namespace

GroupCommandEnd run_to_end(const GroupCommand& command) {
  GroupCommandEnd end;
  GroupChild child{{.words = command.words, .environment = command.environment, .errors = true}};
  if (child.why_not() != 0) {
    end.code = child.why_not();
    return end;
  }
  std::array<Stream, 2> streams{{{std::move(child.output()), &end.output}, {std::move(child.errors()), &end.errors}}};
  follow(child, streams, command, end);
  const siginfo_t how = child.collect();
  if (end.how == How::exited) {
    end.how = how.si_code == CLD_EXITED ? How::exited : How::killed;
    end.code = how.si_status;
  }
  return end;
}

}  // namespace zeus
