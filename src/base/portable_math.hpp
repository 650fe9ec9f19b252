// Elementary functions that give the same bits under every compiler, optimization level, C library and CPU. The C
// library's own differ in the last bit between versions and between CPUs with and without fused multiply-add; a
// decision that depends on a comparison would then differ between two machines. These use nothing but IEEE addition,
// multiplication, division and square root, in a fixed order. Pure functions; relative error below 4e-16 for exp and
// log, below 4e-14 for the normal distribution up to 8 standard deviations from its mean, and below 1e-12 beyond.
#pragma once

namespace zeus::portable {

double exp(double x);
double log(double x);  // -infinity at 0, NaN below
double log1p(double x);
double log2(double x);
double pow(double base, double exponent);  // for base > 0
double sin_turns(double turns);            // sin(2 pi turns)

double normal_density(double x);
double normal_cdf(double x);
double normal_quantile(double probability);  // for 0 < probability < 1

}  // namespace zeus::portable
