// A proxy between clients and a server on Unix sockets that cuts connections: at a counted message, in one of three
// ways. For any protocol in which client and server take turns. Its members may be called from any thread.
#pragma once

#include "base/file_descriptor.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace zeus::test {

class CuttingProxy {
 public:
  // Listens at `here`, connects to `server`.
  CuttingProxy(const std::filesystem::path& here, std::filesystem::path server);
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;
  ~CuttingProxy();

  enum class Way {
    before,  // the message does not arrive: the request or its answer is lost
    after,   // it arrives, but nothing after it: the server carries the request out
  };

  // Cuts the connection of the `count`th message from now; 1 is the next.
  void cut_at(int count, Way way);
  // From now on, `next` returns after each cut the message for the next one.
  void cut_again_and_again(std::function<std::pair<int, Way>()> next);
  // Holds back everything from the `count`th message on, until go_on().
  void hold_at(int count);
  void wait_until_held();
  void go_on();
  // Messages go through from now on.
  void stop_cutting();
  [[nodiscard]] int cuts() const { return cuts_; }

 private:
  struct Pair {
    FileDescriptor client;
    FileDescriptor server;
  };

  void run();
  void accept();
  // False once the connection has ended.
  bool pass(const FileDescriptor& from, const FileDescriptor& to);

  std::filesystem::path server_;
  FileDescriptor listener_;
  FileDescriptor wake_;
  std::vector<Pair> pairs_;
  std::mutex mutex_;
  int countdown_ = 0;
  Way way_ = Way::before;
  std::function<std::pair<int, Way>()> next_;
  int hold_countdown_ = 0;
  bool held_ = false;
  std::condition_variable changed_;
  std::atomic<int> cuts_ = 0;
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace zeus::test
