// The options that name a served model and its GPUs, and what they become: for the commands of `zeus llm`. Main thread
// only.
#pragma once

#include "cli/command.hpp"
#include "device/inventory.hpp"
#include "serving/bench_result.hpp"
#include "serving/served_models.hpp"
#include "transport/client.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace zeus::cli {

// A server that has answered.
struct ModelServer {
  transport::ClientPlan plan;
  std::string prefix;
  std::string shown;  // its URL, without a token
  serving::ServedModel model;
};

class ServedModelOptions {
 public:
  // `side`: of one of several servers, whose flags end in it; empty for the only one.
  explicit ServedModelOptions(std::string side = {}) : side_{std::move(side)} {}

  void declare(Options& options);

  // Asks the server for its models. Throws an Error if it does not answer, or not as such a server.
  [[nodiscard]] ModelServer find_server(const Context& context) const;
  // The numbers of the GPUs to measure.
  [[nodiscard]] std::vector<int> find_gpus(const Context& context, const device::Inventory& inventory,
                                           const ModelServer& server) const;

 private:
  [[nodiscard]] std::string flag(std::string_view name) const;
  [[nodiscard]] ModelServer ask_server(const Context& context) const;
  [[nodiscard]] std::string find_key(const Context& context) const;
  // What `work` returns; its Errors name this side, and its flags.
  template <typename Work>
  [[nodiscard]] auto for_side(const Work& work) const;

  std::string side_;
  std::string url_;
  std::string model_;
  std::optional<std::string> key_file_;
  std::vector<std::string> gpus_;
};

}  // namespace zeus::cli
