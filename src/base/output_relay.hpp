// Stands between a command and our own standard output and error: what it writes goes on unchanged, in order and at
// once, and whoever asks gets to see it. Where ours is a terminal the command sees one too (of the same size), so that
// its progress bars and colours stay; elsewhere it sees a pipe. Where both are the same file, they stay in order.
//
// A reader that does not keep up holds the command up, as it would without us; one that has gone away is told to the
// command in the same way (SIGPIPE). Memory is bounded. One thread. SIGPIPE is ignored in this process from then on.
#pragma once

#include "base/file_descriptor.hpp"

#include <poll.h>
#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace zeus {

class OutputRelay {
 public:
  // Of channel 0 (output) or 1 (error); only the first where both are the same file.
  using Listener = std::function<void(std::size_t channel, std::string_view bytes)>;

  // `output` and `error` are where it goes on to: descriptors that outlive the relay.
  OutputRelay(int output, int error);

  // Whether both are the same file.
  [[nodiscard]] bool is_one() const { return channels_.size() == 1; }

  // In the child, before the command replaces it: our ends become its standard output and error.
  void attach() const;
  // Here, once the child is there.
  void attached();

  // What to wait for.
  [[nodiscard]] std::vector<pollfd> wanted() const;
  // Moves what can be moved without waiting; `ready` is what wanted() gave, answered.
  void move(std::span<const pollfd> ready, const Listener& listener);
  // The command has ended: moves what it has left behind, and no more than that, as processes that it left running may
  // write for ever.
  void drain(const Listener& listener);
  // Passes a new size of the terminal on, and says whether there was one: the command has to be told (SIGWINCH).
  bool follow_window_size();

  static constexpr std::size_t most_pending = 65536;

 private:
  struct Channel {
    int target = -1;
    FileDescriptor source;
    FileDescriptor ours;  // the command's end until it is attached
    bool terminal = false;
    std::string pending;  // read, and not yet written
  };

  [[nodiscard]] const Channel& error_channel() const { return channels_.back(); }
  static Channel open(int target);
  void read(std::size_t index, const Listener& listener);
  static void write(Channel& channel, bool wait);

  std::vector<Channel> channels_;
};

}  // namespace zeus
