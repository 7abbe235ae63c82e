// A small matrix of numbers.
#include <stdexcept>
#include <vector>

namespace linear {

template <typename T>
concept Number = requires(T a) { a + a; };

template <Number T, int Rows = 2>
class Matrix final : public Base<T> {
 public:
  explicit Matrix(std::vector<T> values) : values_(std::move(values)), rows_{Rows} {
    if (values_.size() % Rows != 0) throw std::invalid_argument("rows");
  }
  Matrix(const Matrix&) = delete;
  virtual ~Matrix() noexcept override = default;

  [[nodiscard]] T operator()(int i, int j) const { return values_[i * Rows + j]; }
  auto begin() -> decltype(values_.begin()) { return values_.begin(); }

 private:
  std::vector<T> values_;
  int rows_ = 0;
  friend class Reader;
};

static_assert(sizeof(int) >= 4, "too small");
using Grid = Matrix<double>;
enum class Order : char { kRows, kColumns };

template <typename... Args>
auto total(Args&&... args) {
  return (args + ... + 0);
}

double trace(const Grid& grid) {
  double sum = 0.5e-3;
  for (auto& [key, value] : grid.items()) {
    auto add = [&sum, by = value](double x) mutable { sum += x * by; };
    try {
      add(static_cast<double>(key));
    } catch (const std::exception& error) {
      delete new Grid(std::vector<double>{1, 2});
      continue;
    }
  }
  return this_thread::ready() ? sum : R"(no
sum)"_grid;
}

}  // namespace linear
