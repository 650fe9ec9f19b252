// `zeus jobs`: lists recurring jobs, shows all that is known of one, and exports, imports, forgets or redefines it.
#pragma once

#include "cli/command.hpp"
#include "cli/rate_options.hpp"
#include "jobs/keeper.hpp"
#include "store/open_store.hpp"

#include <memory>
#include <string>
#include <vector>

namespace zeus::cli {

class JobsCommand final : public Command {
 public:
  [[nodiscard]] std::string name() const override { return "jobs"; }
  [[nodiscard]] std::string summary() const override {
    return "Show recurring jobs: tries, beliefs, what comes next and why, what was saved";
  }
  void declare(Options& options) override;
  int run(Context& context) override;

 private:
  void check_usage() const;
  [[nodiscard]] std::string store_location(const Context& context) const;
  // The server's address; empty if a store keeps the jobs.
  [[nodiscard]] std::string server(const Context& context) const;
  [[nodiscard]] std::unique_ptr<jobs::Keeper> open(const Context& context, store::Access access) const;
  int list(const Context& context) const;
  int show(const Context& context) const;
  int export_to(const Context& context) const;
  int import_from(const Context& context) const;
  int forget(const Context& context) const;
  int leave_out(const Context& context) const;
  int redefine(const Context& context) const;

  std::string job_;
  std::string action_;
  std::string store_;
  std::string server_;
  std::string file_;
  std::string html_;
  std::vector<std::string> settings_;
  std::optional<std::uint64_t> recurrence_;
  std::string reason_;
  bool yes_ = false;
  bool all_ = false;
  bool json_ = false;
  RateFlags rates_;
  std::string color_ = "auto";
};

}  // namespace zeus::cli
