// `zeus sweep`: a queue of commands over many machines, and its results. Main thread.
#pragma once

#include "base/file_descriptor.hpp"
#include "cli/command.hpp"
#include "sweep/sweep.hpp"
#include "sweep/traces.hpp"

#include <optional>
#include <string>

namespace zeus::cli {

// `zeus sweep queue` and `zeus sweep broadcast`.
class SweepDrainCommand final : public Command {
 public:
  enum class Kind { queue, broadcast };
  explicit SweepDrainCommand(Kind kind) : kind_{kind} {}

  [[nodiscard]] std::string name() const override { return kind_ == Kind::queue ? "queue" : "broadcast"; }
  [[nodiscard]] std::string summary() const override;
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  int run_in_slurm(Context& context, const FileDescriptor& signals, sweep::SweepListener& listener) const;

  Kind kind_;
  std::string folder_ = ".";
  std::string engine_ = "ssh";
  bool daemon_ = false;
  bool stop_at_failure_ = false;
  bool show_ = false;
  bool quiet_ = false;
};

// What the two start on each host.
class SweepRunCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "run"; }
  [[nodiscard]] std::string summary() const override { return "Carry out one run on this host; started by the others"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::string task_;
};

class SweepResultsCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "results"; }
  [[nodiscard]] std::string summary() const override { return "Show what became of each run, with its energy"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::string folder_ = ".";
  std::string csv_;
  std::string json_;
  std::string html_;
  std::string color_ = "auto";
};

class SweepTracesCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "traces"; }
  [[nodiscard]] std::string summary() const override { return "Write the results as traces for zeus simulate"; }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  std::string folder_ = ".";
  std::string output_ = ".";
  sweep::TraceColumns columns_;
};

class SweepCommand final : public Command {
 public:
  SweepCommand();
  [[nodiscard]] std::string name() const override { return "sweep"; }
  [[nodiscard]] std::string summary() const override { return "Run a queue of commands over many machines, measured"; }
  void declare(Options& options) override;
  int run(Context& context) override { return chosen_->run(context); }

 private:
  Commands commands_;
  Command* chosen_ = nullptr;
};

}  // namespace zeus::cli
