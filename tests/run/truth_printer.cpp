#include "tests/run/truth_printer.hpp"

#include <fmt/format.h>

namespace zeus::truth {

namespace {

constexpr std::size_t output_stream = 0;
constexpr std::size_t error_stream = 1;
// The time after which these update a bar.
constexpr Seconds between_tqdm_bars{0.1};
constexpr Seconds between_keras_bars{0.05};

}  // namespace

run::PatternTexts expressions_of(const Script& script) {
  const bool keras = script.dialect == Dialect::keras_2 || script.dialect == Dialect::keras_3;
  run::PatternTexts texts{.metric = keras ? "val_accuracy: ([0-9.]+)" : "accuracy'?[:=]? ?([0-9.]+)",
                          .epoch = keras ? "" : "^epoch (\\d+)",
                          .step = {}};
  switch (script.dialect) {
    case Dialect::tqdm_epoch:
    case Dialect::tqdm_whole:
    case Dialect::lightning:
    case Dialect::hugging_face:
      texts.step = R"((\d+)/\d+ \[)";
      break;
    case Dialect::keras_2:
      texts.step = R"(^ *(\d+)/\d+ \[)";
      break;
    case Dialect::keras_3:
      texts.step = R"(^ *(\d+)/\d+ )";
      break;
    case Dialect::plain_from_0:
    case Dialect::plain_from_1:
    case Dialect::plain_whole:
      texts.step = R"(step (\d+))";
      break;
    case Dialect::nth_epoch:
    case Dialect::nth_whole:
      texts.step = R"(iter (\d+))";
      break;
    case Dialect::silent:
      break;
  }
  if (script.dialect == Dialect::hugging_face) {
    texts.epoch = R"('eval_accuracy'.*'epoch': (\d+))";
  }
  switch (script.expressions) {
    case Expressions::usual:
      return {};
    case Expressions::metric_only:
      return {.metric = texts.metric, .epoch = {}, .step = {}};
    case Expressions::all:
      break;
  }
  return texts;
}

void Printer::draw_bar(std::string_view before, int done, int all) {
  print_(error_stream, fmt::format("\r{}{:3}%|{:<10}| {}/{} [00:00<00:00, 99.99it/s]", before, 100 * done / all,
                                   std::string(static_cast<std::size_t>(10 * done / all), '#'), done, all));
}

void Printer::plain(std::string_view word, int number) {
  print_(output_stream, fmt::format("{} {} loss 0.4321\n", word, number));
}

void Printer::begin_epoch(Instant now) {
  ++epoch_;
  step_ = 0;
  drawn_ = now;
  switch (dialect_) {
    case Dialect::tqdm_epoch:
      draw_bar("", 0, steps_);
      break;
    case Dialect::lightning:
      draw_bar(fmt::format("Epoch {}: ", epoch_), 0, steps_);
      break;
    case Dialect::tqdm_whole:
    case Dialect::hugging_face:
      if (epoch_ == 0) {
        draw_bar("", 0, steps_ * epochs_);
      }
      break;
    case Dialect::keras_2:
    case Dialect::keras_3:
      print_(output_stream, fmt::format("Epoch {}/{}\n", epoch_ + 1, epochs_));
      break;
    default:
      break;
  }
}

void Printer::end_step(Instant now) {
  const int within = step_++;
  const int over_all = epoch_ * steps_ + within;
  const auto is_due = [&](Seconds between) {
    const bool due = now - drawn_ >= between || step_ == steps_;
    drawn_ = due ? now : drawn_;
    return due;
  };
  switch (dialect_) {
    case Dialect::tqdm_epoch:
      if (is_due(between_tqdm_bars)) {
        draw_bar("", step_, steps_);
      }
      break;
    case Dialect::lightning:
      if (is_due(between_tqdm_bars)) {
        draw_bar(fmt::format("Epoch {}: ", epoch_), step_, steps_);
      }
      break;
    case Dialect::tqdm_whole:
    case Dialect::hugging_face:
      if (is_due(between_tqdm_bars)) {
        draw_bar("", over_all + 1, steps_ * epochs_);
      }
      break;
    case Dialect::keras_2:
      if (is_due(between_keras_bars)) {
        print_(output_stream, fmt::format("\r{:4}/{} [====>.....] - ETA: 1s - loss: 0.4321", step_, steps_));
      }
      break;
    case Dialect::keras_3:
      if (is_due(between_keras_bars)) {
        print_(output_stream,
               fmt::format("\r\x1b[1m{:3}/{}\x1b[0m \x1b[32m\xe2\x94\x81\xe2\x94\x81\x1b[0m \x1b[1m1s\x1b[0m "
                           "9ms/step - loss: 0.4321",
                           step_, steps_));
      }
      break;
    case Dialect::plain_from_0:
      plain("step", within);
      break;
    case Dialect::plain_from_1:
      plain("step", within + 1);
      break;
    case Dialect::plain_whole:
      plain("step", over_all + 1);
      break;
    case Dialect::nth_epoch:
      if (within % every_ == 0) {
        plain("iter", within);
      }
      break;
    case Dialect::nth_whole:
      if ((over_all + 1) % every_ == 0) {
        plain("iter", over_all + 1);
      }
      break;
    case Dialect::silent:
      break;
  }
}

void Printer::end_steps() {
  if (dialect_ == Dialect::tqdm_epoch) {
    print_(error_stream, "\n");
  }
}

void Printer::evaluate(int done, int all) {
  draw_bar("Evaluating: ", done, all);
  if (done == all) {
    print_(error_stream, "\n");
  }
}

void Printer::end_epoch(double metric) {
  switch (dialect_) {
    case Dialect::keras_2:
      print_(output_stream, fmt::format("\r{:4}/{} [==========] - 2s 9ms/step - loss: 0.4321 - val_accuracy: {:.4f}\n",
                                        steps_, steps_, metric));
      return;
    case Dialect::keras_3:
      print_(output_stream,
             fmt::format("\r\x1b[1m{:3}/{}\x1b[0m \x1b[32m\xe2\x94\x81\xe2\x94\x81\x1b[0m \x1b[1m2s\x1b[0m "
                         "9ms/step - loss: 0.4321 - val_accuracy: {:.4f}\n",
                         steps_, steps_, metric));
      return;
    case Dialect::hugging_face:
      print_(output_stream,
             fmt::format("{{'eval_loss': 0.4321, 'eval_accuracy': {:.4f}, 'epoch': {}.0}}\n", metric, epoch_ + 1));
      return;
    case Dialect::lightning:
      print_(error_stream, "\n");
      break;
    default:
      break;
  }
  print_(output_stream, fmt::format("epoch {} loss 0.4321 accuracy {:.4f}\n", epoch_ + first_epoch_, metric));
}

void Printer::end() {
  if (dialect_ == Dialect::tqdm_whole || dialect_ == Dialect::hugging_face) {
    print_(error_stream, "\n");
  }
}

}  // namespace zeus::truth
