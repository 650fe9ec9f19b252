// Stands between a command and our own standard output and error: what the command writes goes on unchanged, in order
// and at once, and a listener sees it. If ours is a terminal, the command sees one too (of the same size), so that its
// progress bars and colours stay; otherwise it sees a pipe. If output and error are the same file, they stay in order.
//
// A slow reader holds up the command, as it would without us. If the reader goes away, the command gets SIGPIPE, also
// as without us. Memory is bounded. One thread. From the first relay on, SIGPIPE is ignored in this process.
#pragma once

#include "base/file_descriptor.hpp"

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

class OutputRelay {
 public:
  // Of channel 0 (output) or 1 (error); only channel 0 if both are the same file.
  using Listener = std::function<void(std::size_t channel, std::string_view bytes)>;

  // `output` and `error` are the destinations: descriptors that outlive the relay.
  OutputRelay(int output, int error);

  // Whether both are the same file.
  [[nodiscard]] bool is_one() const { return channels_.size() == 1; }

  // In the child, before the command replaces it: our ends become its standard output and error.
  void attach() const;
  // In this process, once the child exists.
  void attached();

  // The descriptors to wait for.
  [[nodiscard]] std::vector<pollfd> wanted() const;
  // Moves what can be moved without waiting; `ready` is what wanted() gave, after poll().
  void move(std::span<const pollfd> ready, const Listener& listener);
  // Once the command has ended: moves what it has left behind, and no more, since processes that it left running may
  // write without end. It does not wait: while it returns false, call it again when one of waited_for() is ready.
  [[nodiscard]] bool drain(const Listener& listener);
  [[nodiscard]] std::vector<pollfd> waited_for() const;
  // What the readers that take nothing have not taken is lost; drain() then ends with its next call.
  void give_up();
  // Passes on a new size of the terminal; true if there was one, and then the command needs a SIGWINCH.
  bool follow_window_size();

  // Output for which its file had no room, and the command goes on, as it would if it ignored that its writes fail; or
  // that was given up.
  struct Lost {
    std::uint64_t bytes = 0;
    int error = 0;  // of the first
  };
  [[nodiscard]] Lost lost() const { return lost_; }

  static constexpr std::size_t most_pending = 65536;

 private:
  struct Channel {
    int target = -1;
    FileDescriptor source;
    FileDescriptor ours;  // the command's end until it is attached
    bool terminal = false;
    std::string pending;  // read, but not written yet
    std::size_t drained = 0;
  };

  [[nodiscard]] const Channel& error_channel() const { return channels_.back(); }
  static Channel open(int target);
  std::size_t read(std::size_t index, const Listener& listener);
  void write(Channel& channel);
  void lose(Channel& channel, std::size_t from, int error);

  std::vector<Channel> channels_;
  Lost lost_;
};

}  // namespace zeus
