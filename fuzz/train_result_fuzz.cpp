// The file of a training's result. Whatever numbers and names a result has, it is written as one JSON object, in which
// NaN and infinity have become null.

#include "records/json_value.hpp"
#include "train/result_file.hpp"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Takes values from the input; after its end, zeros.
class Values {
 public:
  Values(const std::uint8_t* data, std::size_t size) : data_{data}, left_{size} {}

  template <typename Value>
  Value take() {
    Value value{};
    const std::size_t size = left_ < sizeof value ? left_ : sizeof value;
    std::memcpy(&value, data_, size);
    skip(size);
    return value;
  }
  double number() { return take<double>(); }
  bool flag() { return take<std::uint8_t>() % 2 == 1; }
  std::string text() {
    const std::size_t wanted = take<std::uint8_t>();
    const std::size_t size = left_ < wanted ? left_ : wanted;
    std::string text(reinterpret_cast<const char*>(data_), size);
    skip(size);
    return text;
  }
  zeus::Energy energy() {
    zeus::Energy energy;
    energy.value = zeus::Joules{number()};
    energy.uncertainty = zeus::Joules{number()};
    if (flag()) {
      energy.systematic = zeus::Joules{number()};
    }
    energy.method = static_cast<zeus::EnergyMethod>(take<std::uint8_t>() % 3);
    return energy;
  }
  zeus::PowerSetting setting() {
    zeus::PowerSetting setting;
    setting.limit = zeus::Watts{number()};
    if (flag()) {
      setting.clock = zeus::Megahertz{number()};
    }
    return setting;
  }

 private:
  void skip(std::size_t size) {
    data_ += size;
    left_ -= size;
  }

  const std::uint8_t* data_;
  std::size_t left_;
};

zeus::TrainingResult result_from(Values values) {
  zeus::TrainingResult result;
  result.unoptimized = values.text();
  result.no_prediction = values.text();
  result.profile.gpu = values.text();
  result.time = zeus::Seconds{values.number()};
  result.eta = values.number();
  if (values.flag()) {
    result.energy = values.energy();
    result.cost = zeus::Joules{values.number()};
    result.metric = values.number();
    result.optimum = values.setting();
    result.stopped_by = static_cast<zeus::StopReason>(values.take<std::uint8_t>() % 3);
  }
  if (values.flag()) {
    zeus::TrainingPrediction& prediction = result.prediction.emplace();
    prediction.setting = values.setting();
    prediction.time = zeus::Seconds{values.number()};
    prediction.energy = values.energy();
    prediction.cost_uncertainty = zeus::Joules{values.number()};
  }
  for (int count = values.take<std::uint8_t>() % 4; count > 0; --count) {
    zeus::EpochReport& epoch = result.epochs.emplace_back();
    epoch.number = values.take<std::uint64_t>();
    epoch.steps = values.take<std::uint64_t>();
    epoch.time = zeus::Seconds{values.number()};
    epoch.energy = values.energy();
    epoch.metric = values.number();
  }
  for (int count = values.take<std::uint8_t>() % 4; count > 0; --count) {
    zeus::PowerMeasurement& measured = result.profile.measurements.emplace_back();
    measured.setting = values.setting();
    measured.steps = values.take<std::uint64_t>();
    measured.step_time = zeus::Seconds{values.number()};
    measured.step_energy = values.energy();
    measured.capped = values.number();
  }
  return result;
}

}  // namespace

extern "C" int fuzz_train_result(const std::uint8_t* data, std::size_t size) {
  const zeus::TrainingResult result = result_from({data, size});
  const auto object = zeus::records::JsonValue::parse(zeus::train::to_json(result));
  if (!object || (*object)["epochs"].size() != result.epochs.size() ||
      (*object)["profile"]["measurements"].size() != result.profile.measurements.size()) {
    std::abort();
  }
  return 0;
}
