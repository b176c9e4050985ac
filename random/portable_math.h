// Logarithm and exponential with the same bits on every machine.
//
// The log and exp of C libraries differ in the last bit between libraries, versions and processors.
// The functions here use only additions, multiplications and divisions, which IEEE 754 fixes to
// the bit (the build keeps compilers from contracting them). Both have a relative error of at most
// 1e-15.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_RANDOM_PORTABLE_MATH_H_
#define GRAPEVINE_RANDOM_PORTABLE_MATH_H_

namespace grapevine {

// Returns the natural logarithm. As in C, it is -infinity at 0 and NaN below 0.
double PortableLog(double x);

// Returns e^x. As in C, it is 0 or infinity if the result does not fit a double.
double PortableExp(double x);

// Returns base^exponent = exp(exponent * log(base)) for base >= 0. The relative error grows with
// the argument of exp, to 1e-15 * (1 + |exponent * log(base)|).
double PortablePow(double base, double exponent);

}  // namespace grapevine

#endif  // GRAPEVINE_RANDOM_PORTABLE_MATH_H_
