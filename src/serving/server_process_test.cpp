#include "serving/server_process.hpp"

#include "backends/virtual/virtual_backend.hpp"
#include "base/clock.hpp"
#include "base/environment.hpp"
#include "physics/gpu_model.hpp"
#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace zeus::serving {
namespace {

// A machine on which process 30, a child of 20, which is a child of 10, uses GPU 1, and process 10 listens at port
// 8000.
class ServerProcess : public ::testing::Test {
 protected:
  ServerProcess() : backend_{clock_, models_} {
    write("proc/sys/kernel/hostname", "here\n");
    write("proc/net/tcp",
          "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
          "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 777 1\n"
          "   1: 0100007F:1F41 0100007F:1F40 01 00000000:00000000 00:00000000 00000000  1000        0 778 1\n");
    add_process(10, 1);
    add_process(20, 10);
    add_process(30, 20);
    add_process(40, 1);
    std::filesystem::create_symlink("socket:[777]", folder_.path() / "proc/10/fd/3");
    std::filesystem::create_symlink("socket:[778]", folder_.path() / "proc/40/fd/3");
    backend_.gpu(0).set_processes({{.pid = 40}});
    backend_.gpu(1).set_processes({{.pid = 30}});
    device::Backend* const one = &backend_;
    inventory_ = device::take_inventory(std::span{&one, 1}, Environment{});
  }

  void write(const std::string& path, const std::string& content) {
    std::filesystem::create_directories((folder_.path() / path).parent_path());
    std::ofstream{folder_.path() / path} << content;
  }
  void add_process(int pid, int parent) {
    write(fmt::format("proc/{}/stat", pid),
          fmt::format("{} (a) S {} 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 55 0 0", pid, parent));
    std::filesystem::create_directories(folder_.path() / fmt::format("proc/{}/fd", pid));
  }
  [[nodiscard]] FileTree machine() const { return FileTree{folder_.path()}; }
  std::string refusal_of(const std::string& host_port) {
    try {
      static_cast<void>(gpus_of_server(machine(), inventory_, host_port));
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::not_found);
      EXPECT_NE(error.advice().find("--gpus"), std::string::npos);
      return error.message();
    }
    return {};
  }

  test::TemporaryFolder folder_;
  VirtualClock clock_;
  std::array<physics::GpuModel, 2> models_{physics::preset("A100"), physics::preset("A100")};
  backends::virtual_gpu::VirtualBackend backend_;
  device::Inventory inventory_;
};

TEST_F(ServerProcess, IsTheOneThatListensAtThePort) {
  EXPECT_EQ(listeners_at(machine(), 8000), (std::set<std::int64_t>{10}));
  EXPECT_TRUE(listeners_at(machine(), 8001).empty());
}

TEST_F(ServerProcess, HasTheGpusOfItsDescendants) {
  EXPECT_EQ(gpus_of_server(machine(), inventory_, "127.0.0.1:8000"), std::vector{1});
  EXPECT_EQ(gpus_of_server(machine(), inventory_, "here:8000"), std::vector{1});
}

TEST_F(ServerProcess, IsAskedForIfItCannotBeFound) {
  EXPECT_EQ(refusal_of("there:8000"), "there is not this machine, whose GPUs are measured");
  EXPECT_EQ(refusal_of("localhost:8001"), "no process that this user may look into listens at port 8001");
  backend_.gpu(1).set_processes({});
  EXPECT_EQ(refusal_of("localhost:8000"),
            "neither process 10, which listens at port 8000, nor one that it has started uses a GPU that can be seen");
}

}  // namespace
}  // namespace zeus::serving
