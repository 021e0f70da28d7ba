/* service.cpp -- a program that takes much of the standard library with it: containers,
 * algorithms, streams, regular expressions, threads, templates and lambdas.
 */
#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <queue>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace service
{
namespace
{

struct number {
    long value;
};
struct word {
    std::string text;
};
using token = std::variant<number, word, char>;

template <class... F> struct overloaded : F... {
    using F::operator()...;
};
template <class... F> overloaded(F...) -> overloaded<F...>;

std::vector<token> tokens(const std::string &text)
{
    static const std::regex part("([0-9]+)|([a-z]+)|(.)", std::regex::icase);
    std::vector<token> found;
    for (std::sregex_iterator at(text.begin(), text.end(), part), end; at != end; ++at) {
        if ((*at)[1].matched)
            found.emplace_back(number{ std::stol(at->str()) });
        else if ((*at)[2].matched)
            found.emplace_back(word{ at->str() });
        else
            found.emplace_back(at->str()[0]);
    }
    return found;
}

double score(const token &t)
{
    return std::visit(
        overloaded{ [](const number &n) { return double(n.value); },
                    [](const word &w) {
                        return std::accumulate(w.text.begin(), w.text.end(), 0.0) /
                               double(w.text.size());
                    },
                    [](char c) { return double(c); } },
        t);
}

class shape
{
  public:
    virtual ~shape() = default;
    virtual double area() const = 0;
};

template <int Sides> class regular : public shape
{
    std::vector<double> side_;

  public:
    explicit regular(double side)
        : side_(Sides, side)
    {
    }
    double area() const override
    {
        return std::inner_product(side_.begin(), side_.end(), side_.begin(), 0.0) / Sides;
    }
};

template <class Key> class graph
{
    std::unordered_map<Key, std::vector<std::pair<Key, int>>> edges_;

  public:
    void join(const Key &a, const Key &b, int cost)
    {
        edges_[a].emplace_back(b, cost);
    }

    std::map<Key, int> reach(const Key &from) const
    {
        using item = std::pair<int, Key>;
        std::priority_queue<item, std::vector<item>, std::greater<>> queue;
        std::map<Key, int> done;
        queue.emplace(0, from);
        while (!queue.empty()) {
            auto [cost, at] = queue.top();
            queue.pop();
            if (!done.emplace(at, cost).second)
                continue;
            if (auto near = edges_.find(at); near != edges_.end())
                for (const auto &[next, more] : near->second)
                    queue.emplace(cost + more, next);
        }
        return done;
    }
};

std::string spread(std::deque<std::string> jobs)
{
    std::vector<std::future<std::string>> answers;
    for (auto &job : jobs)
        answers.push_back(std::async(std::launch::deferred, [job] {
            return std::string(job.rbegin(), job.rend());
        }));
    std::set<std::string> sorted;
    for (auto &answer : answers)
        sorted.insert(answer.get());
    std::ostringstream out;
    for (const auto &text : sorted)
        out << text << ' ';
    return out.str();
}

} // namespace
} // namespace service

int main(int argc, char **argv)
{
    using namespace service;
    auto all = tokens(argc > 1 ? argv[1] : "one 2 three, 40 Five");
    std::stable_sort(all.begin(), all.end(), [](const token &a, const token &b) {
        return score(a) < score(b);
    });
    graph<std::string> roads;
    roads.join("a", "b", 4);
    roads.join("a", "c", 1);
    roads.join("c", "b", 2);
    std::vector<std::unique_ptr<shape>> shapes;
    shapes.push_back(std::make_unique<regular<3>>(2));
    shapes.push_back(std::make_unique<regular<6>>(1));
    for (const auto &s : shapes)
        std::cout << s->area() << ' ';
    for (const auto &[name, cost] : roads.reach("a"))
        std::cout << name << '=' << cost << ' ';
    std::cout << spread({ "not", "to", "be" }) << all.size() << '\n';
}
