#include "control/gpu_lock.hpp"

#include "tests/support/temporary_folder.hpp"

#include <zeus/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace zeus::control {
namespace {

class GpuLockTest : public ::testing::Test {
 protected:
  // The exit code of a child that does `action`.
  static int in_child(const std::function<int()>& action) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::_exit(action());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  }

  // How many descriptors this process has open on files of this test's folder.
  [[nodiscard]] std::ptrdiff_t open_here() const {
    const std::filesystem::directory_iterator all{"/proc/self/fd"};
    return std::count_if(begin(all), end(all), [&](const auto& one) {
      std::error_code gone;
      return std::filesystem::read_symlink(one.path(), gone).string().starts_with(folder_.path().string());
    });
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "GPU-0.lock";
  SystemClock clock_;
};

TEST_F(GpuLockTest, ThreadsWorkOneAfterAnother) {
  std::atomic<int> at_work{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const auto lock = GpuLock::on(file_);
        const auto work = lock->begin_work(clock_, 60_s);
        most = std::max(most.load(), ++at_work);
        --at_work;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(most, 1);
}

TEST_F(GpuLockTest, AnotherThreadWaitsNoLongerThanItsPatience) {
  const auto lock = GpuLock::on(file_);
  EXPECT_EQ(lock->worker(), 0);
  auto work = std::make_optional(lock->begin_work(clock_, 1_s));
  EXPECT_EQ(lock->worker(), ::getpid());
  VirtualClock clock;
  std::atomic<bool> waits{true};
  std::string said;
  std::thread other{[&] {
    try {
      const auto theirs = GpuLock::on(file_)->begin_work(clock, 10_s);
    } catch (const Error& error) {
      said = error.what();
    }
    waits = false;
  }};
  while (waits) {
    clock.advance(1_s);
    std::this_thread::yield();
  }
  other.join();
  EXPECT_THAT(said, testing::HasSubstr("another thread of this process has been at work"));
  work.reset();
  EXPECT_NO_THROW(static_cast<void>(lock->begin_work(clock, 0_s)));
}

TEST_F(GpuLockTest, AnotherProcessWaitsAndLearnsForWhichProcess) {
  const auto lock = GpuLock::on(file_);
  const auto work = lock->begin_work(clock_, 1_s);
  EXPECT_EQ(in_child([&] {
              try {
                const auto theirs = GpuLock::on(file_)->begin_work(clock_, 20_ms);
              } catch (const Error& error) {
                const bool named = std::string{error.what()}.find(std::to_string(::getppid())) != std::string::npos;
                return error.kind() == ErrorKind::timeout && named ? 0 : 1;
              }
              return 2;
            }),
            0);
}

TEST_F(GpuLockTest, ALeaseIsSeenAsHeldByAllAndEndsWithItsProcess) {
  const auto lock = GpuLock::on(file_);
  {
    const auto work = lock->begin_work(clock_, 1_s);
    lock->hold(7);
  }
  EXPECT_TRUE(lock->is_held(7));
  EXPECT_FALSE(lock->is_held(8));
  EXPECT_EQ(in_child([&] { return GpuLock::on(file_)->is_held(7) && !GpuLock::on(file_)->is_held(8) ? 0 : 1; }), 0);
  lock->let_go(7);
  EXPECT_FALSE(lock->is_held(7));
  EXPECT_EQ(in_child([&] {
              const auto theirs = GpuLock::on(file_)->begin_work(clock_, 1_s);
              GpuLock::on(file_)->hold(9);
              return 0;
            }),
            0);
  EXPECT_FALSE(lock->is_held(9));
}

TEST_F(GpuLockTest, AForkedChildThatClosesItsFilesKeepsItsParentsLock) {
  const auto lock = GpuLock::on(file_);
  const auto work = lock->begin_work(clock_, 1_s);
  lock->hold(7);
  in_child([] {
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
      ::close(descriptor);
    }
    return 0;
  });
  EXPECT_EQ(in_child([&] { return GpuLock::on(file_)->is_held(7) ? 0 : 1; }), 0);
}

TEST_F(GpuLockTest, ARemovedFileIsCreatedAgain) {
  const auto lock = GpuLock::on(file_);
  { const auto work = lock->begin_work(clock_, 1_s); }
  std::filesystem::remove(file_);
  const auto work = lock->begin_work(clock_, 1_s);
  EXPECT_TRUE(std::filesystem::exists(file_));
  EXPECT_EQ(in_child([&] {
              try {
                const auto theirs = GpuLock::on(file_)->begin_work(clock_, 20_ms);
              } catch (const Error&) {
                return 0;
              }
              return 1;
            }),
            0);
}

TEST_F(GpuLockTest, AFolderThatIsGoneIsAnError) {
  EXPECT_THROW(static_cast<void>(GpuLock::on(folder_.path() / "missing" / "GPU-0.lock")->begin_work(clock_, 1_s)),
               Error);
}

TEST_F(GpuLockTest, TheFileExistsOnlyWhileItIsNeeded) {
  const auto lock = GpuLock::on(file_);
  EXPECT_FALSE(lock->is_held(7)) << "looking makes no file";
  EXPECT_FALSE(std::filesystem::exists(file_));
  {
    const auto work = lock->begin_work(clock_, 1_s);
    lock->hold(7);
  }
  EXPECT_TRUE(std::filesystem::exists(file_)) << "a lease is held";
  EXPECT_EQ(in_child([&] {
              { const auto theirs = GpuLock::on(file_)->begin_work(clock_, 1_s); }
              return std::filesystem::exists(file_) && GpuLock::on(file_)->is_held(7) ? 0 : 1;
            }),
            0)
      << "what another process did not need was ours";
  {
    const auto work = lock->begin_work(clock_, 1_s);
    lock->let_go(7);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ(open_here(), 0) << "nor does a process that has no lease keep it open";
}

// Each process removes the file after its work. If a lock on a removed file counted, two could work at once.
TEST_F(GpuLockTest, ProcessesExcludeOneAnotherThoughEachRemovesTheFileInRealTime) {
  const std::filesystem::path counter = folder_.path() / "counter";
  constexpr int processes = 3;
  constexpr int rounds = 100;
  VirtualClock impatient;  // waiting takes no real time
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      for (int round = 0; round < rounds; ++round) {
        const auto work = GpuLock::on(file_)->begin_work(impatient, 1e7_s);
        if (!std::filesystem::exists(file_)) {
          ::_exit(1);  // at work on a file that no other process can find
        }
        int count = 0;
        std::ifstream{counter} >> count;
        std::ofstream{counter} << count + 1;
      }
      ::_exit(0);
    }
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  int count = 0;
  std::ifstream{counter} >> count;
  EXPECT_EQ(count, processes * rounds);
  EXPECT_FALSE(std::filesystem::exists(file_));
}

TEST_F(GpuLockTest, ALockThatAnotherProcessRecreatedIsTheValidOne) {
  const auto lock = GpuLock::on(file_);
  { const auto work = lock->begin_work(clock_, 1_s); }
  std::array<int, 2> ready{};
  std::array<int, 2> over{};
  ASSERT_EQ(::pipe(ready.data()) + ::pipe(over.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    {
      const auto work = GpuLock::on(file_)->begin_work(clock_, 1_s);
      GpuLock::on(file_)->hold(9);
    }
    char byte = 0;
    ::_exit(::write(ready[1], "x", 1) == 1 && ::read(over[0], &byte, 1) == 1 ? 0 : 1);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(lock->is_held(9)) << "we looked at the file that we had opened, and not at the one that is there";
  EXPECT_EQ(lock->holder(), child);
  ASSERT_EQ(::write(over[1], "x", 1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(lock->is_held(9));
}

}  // namespace
}  // namespace zeus::control
