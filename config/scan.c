/* scan.c -- reads a JSON text for positions: a strict walk that builds the index and
 * says of a mistake in the syntax where it is and what would be right. */
#include <stdbool.h>

#include "config/config.h"
#include "config/index.h"
#include "config/show.h"

struct scan {
    const char *text;
    uint32_t size, at;
    uint32_t depth;
    struct trail_config_index *index;
    struct trail_config_fault *fault;
};

static enum trail_status scan_value(struct scan *scan, uint32_t node);

TRAIL_PRINTF(4, 5)
static enum trail_status fail(struct scan *scan, uint32_t offset, uint32_t node,
                              const char *format, ...)
{
    struct trail_config_fault *fault = scan->fault;
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text, sizeof(fault->text), format, args);
    va_end(args);
    fault->status = TRAIL_BAD_INPUT;
    fault->offset = offset;
    fault->node = node;
    return TRAIL_BAD_INPUT;
}

static int peek(const struct scan *scan)
{
    return scan->at < scan->size ? (unsigned char)scan->text[scan->at] : -1;
}

static void skip_space(struct scan *scan)
{
    for (int c = peek(scan); c == ' ' || c == '\t' || c == '\n' || c == '\r';
         c = peek(scan))
        scan->at++;
}

/* What people write where a value belongs, quoted or not, ends before other bytes. */
static bool in_word(int c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '+' || c == '-' || c == '.' || c == '_' || c == '\'' || c >= 0x80;
}

/* The mistake is what stands here, where `expected` should. */
static enum trail_status fail_here(struct scan *scan, uint32_t node,
                                   const char *expected)
{
    int c = peek(scan);
    if (c < 0)
        return fail(scan, scan->at, node, "expected %s, found the end of the file",
                    expected);
    if (c == '"')
        return fail(scan, scan->at, node, "expected %s, found a text", expected);
    int next = scan->at + 1 < scan->size ? scan->text[scan->at + 1] : 0;
    if (c == '#' || (c == '/' && (next == '/' || next == '*')))
        return fail(scan, scan->at, node,
                    "JSON has no comments; write a key that starts with "
                    "//, like \"//\": \"text\"");
    uint32_t end = scan->at + 1;
    while (in_word(c) && end < scan->size && in_word((unsigned char)scan->text[end]))
        end++;
    struct trail_shown found = trail_show(scan->text + scan->at, end - scan->at);
    const char *quote = in_word(c) ? "" : "\"";
    return fail(scan, scan->at, node, "expected %s, found %s%s%s", expected, quote,
                found.text, quote);
}

/* Step over a text; what its escapes say is not looked at. */
static enum trail_status scan_text(struct scan *scan, uint32_t node, bool *escaped_ret)
{
    uint32_t start = scan->at++;
    bool escaped = false;
    for (;; scan->at++) {
        int c = peek(scan);
        if (c < 0)
            return fail(scan, start, node, "this text does not end; close it with \"");
        if (c == '\n' || c == '\r')
            return fail(scan, start, node,
                        "this text does not end on its line; close it with \", or "
                        "write \\n");
        if (c < 0x20)
            return fail(scan, scan->at, node,
                        "a control character in a text; write \\u%04x", (unsigned)c);
        if (c == '"')
            break;
        if (c == '\\') {
            escaped = true;
            if (scan->at + 1 < scan->size &&
                (unsigned char)scan->text[scan->at + 1] >= 0x20)
                scan->at++;
        }
    }
    scan->at++;
    *escaped_ret = escaped;
    return TRAIL_OK;
}

static size_t digits(const char *at, size_t size)
{
    size_t count = 0;
    while (count < size && at[count] >= '0' && at[count] <= '9')
        count++;
    return count;
}

/* A JSON number: -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)? */
static bool is_number(const char *word, size_t size)
{
    size_t at = size && word[0] == '-', count = digits(word + at, size - at);
    if (!count || (count > 1 && word[at] == '0'))
        return false;
    at += count;
    if (at < size && word[at] == '.') {
        count = digits(word + at + 1, size - at - 1);
        if (!count)
            return false;
        at += 1 + count;
    }
    if (at < size && (word[at] == 'e' || word[at] == 'E')) {
        at++;
        if (at < size && (word[at] == '+' || word[at] == '-'))
            at++;
        count = digits(word + at, size - at);
        if (!count)
            return false;
        at += count;
    }
    return at == size;
}

static enum trail_status scan_word(struct scan *scan, uint32_t node)
{
    uint32_t start = scan->at;
    while (in_word(peek(scan)))
        scan->at++;
    const char *word = scan->text + start;
    uint32_t size = scan->at - start;

    if ((size == 4 && (!memcmp(word, "true", 4) || !memcmp(word, "null", 4))) ||
        (size == 5 && !memcmp(word, "false", 5)) || is_number(word, size))
        return TRAIL_OK;
    if (!size)
        return fail_here(scan, node, "a value");
    struct trail_shown shown = trail_show(word, size);
    if (word[0] == '-' || word[0] == '+' || word[0] == '.' || digits(word, 1))
        return fail(scan, start, node,
                    "%s is not a number as JSON writes it; if it is text, put it in "
                    "double quotes",
                    shown.text);
    return fail(scan, start, node,
                "%s is not a value; if it is text, put it in double quotes",
                shown.text);
}

static enum trail_status add(struct scan *scan, const struct trail_config_node *child,
                             uint32_t *node_ret)
{
    uint32_t node = trail_config_index_add(scan->index, child);
    if (node != UINT32_MAX) {
        *node_ret = node;
        return TRAIL_OK;
    }
    if (scan->index->count == TRAIL_CONFIG_NODE_LIMIT)
        return fail(scan, child->key_start, child->parent, "more than %u values",
                    TRAIL_CONFIG_NODE_LIMIT);
    fail(scan, child->key_start, child->parent, "out of memory");
    return scan->fault->status = TRAIL_NO_MEMORY;
}

/* Read a member's key and make its node. */
static enum trail_status scan_key(struct scan *scan, uint32_t parent, uint32_t ordinal,
                                  uint32_t *node_ret)
{
    struct trail_config_node node = { .key_start = scan->at,
                                      .parent = parent,
                                      .ordinal = ordinal };
    bool escaped = false;
    if (scan_text(scan, parent, &escaped))
        return scan->fault->status;
    node.value_start = node.value_end = scan->at;
    node.key = scan->text + node.key_start + 1;
    node.key_size = scan->at - node.key_start - 2;
    if (escaped) {
        /* NULL for an escape that is none: the JSON library will say so in its turn. */
        node.decoded = json_loadb(scan->text + node.key_start,
                                  scan->at - node.key_start, JSON_DECODE_ANY, NULL);
        if (node.decoded) {
            node.key = json_string_value(node.decoded);
            node.key_size = (uint32_t)json_string_length(node.decoded);
        }
    }
    enum trail_status status = add(scan, &node, node_ret);
    if (status)
        json_decref(node.decoded);
    return status;
}

static enum trail_status scan_member(struct scan *scan, uint32_t parent,
                                     uint32_t ordinal)
{
    uint32_t node = 0;
    if (peek(scan) == '}' && ordinal)
        return fail_here(scan, parent, "another key after the comma");
    if (peek(scan) != '"')
        return fail_here(scan, parent,
                         ordinal ? "a key in double quotes"
                                 : "a key in double quotes or \"}\"");
    if (scan_key(scan, parent, ordinal, &node))
        return scan->fault->status;
    skip_space(scan);
    if (peek(scan) != ':')
        return fail_here(scan, node, "\":\" and a value");
    scan->at++;
    return scan_value(scan, node);
}

static enum trail_status scan_element(struct scan *scan, uint32_t parent,
                                      uint32_t ordinal)
{
    uint32_t node = 0;
    const struct trail_config_node element = { .key_start = scan->at,
                                               .value_start = scan->at,
                                               .value_end = scan->at,
                                               .parent = parent,
                                               .ordinal = ordinal };
    if (peek(scan) == ']')
        return fail_here(scan, parent, "another value after the comma");
    if (add(scan, &element, &node))
        return scan->fault->status;
    return scan_value(scan, node);
}

/* Read an object or an array, whose bracket is next. */
static enum trail_status scan_children(struct scan *scan, uint32_t node)
{
    bool object = peek(scan) == '{';
    int close = object ? '}' : ']';

    if (scan->depth == TRAIL_CONFIG_DEPTH_LIMIT)
        return fail(scan, scan->at, 0, "nested deeper than %d levels",
                    TRAIL_CONFIG_DEPTH_LIMIT);
    scan->depth++;
    scan->at++;
    skip_space(scan);
    for (uint32_t ordinal = 0; ordinal || peek(scan) != close; ordinal++) {
        if (object ? scan_member(scan, node, ordinal)
                   : scan_element(scan, node, ordinal))
            return scan->fault->status;
        skip_space(scan);
        if (peek(scan) == close)
            break;
        if (peek(scan) != ',')
            return fail_here(scan, node, object ? "\",\" or \"}\"" : "\",\" or \"]\"");
        scan->at++;
        skip_space(scan);
    }
    scan->at++;
    scan->depth--;
    return TRAIL_OK;
}

static enum trail_status scan_value(struct scan *scan, uint32_t node)
{
    enum trail_status status;
    bool escaped;

    skip_space(scan);
    scan->index->nodes[node].value_start = scan->at;
    if (peek(scan) == '{' || peek(scan) == '[')
        status = scan_children(scan, node);
    else if (peek(scan) == '"')
        status = scan_text(scan, node, &escaped);
    else
        status = scan_word(scan, node);
    scan->index->nodes[node].value_end = scan->at;
    return status;
}

static enum trail_status fail_repeated(struct scan *scan, uint32_t first,
                                       uint32_t repeated)
{
    const struct trail_config_node *node = &scan->index->nodes[repeated];
    struct trail_config_position position =
        trail_config_position(scan->text, scan->index->nodes[first].key_start);
    return fail(scan, node->key_start, repeated,
                "written twice, first at %u:%u; remove one", (unsigned)position.line,
                (unsigned)position.column);
}

enum trail_status trail_config_index_scan(const char *text, size_t size,
                                          struct trail_config_index *index_ret,
                                          struct trail_config_fault *fault_ret)
{
    struct scan scan = {
        .text = text, .size = (uint32_t)size, .index = index_ret, .fault = fault_ret
    };
    const struct trail_config_node top = { 0 };
    uint32_t node = 0, first = 0, repeated = 0;

    *index_ret = (struct trail_config_index){ 0 };
    *fault_ret = (struct trail_config_fault){ 0 };
    skip_space(&scan);
    if (scan.at == scan.size)
        return fail(&scan, 0, UINT32_MAX, "the file is empty; write at least {}");
    if (add(&scan, &top, &node))
        return fault_ret->status;
    if (peek(&scan) == '[')
        return fail(&scan, scan.at, node,
                    "a list at the top; a configuration is an object: { ... }");
    if (peek(&scan) != '{')
        return fail_here(&scan, node, "\"{\" at the start");
    if (scan_value(&scan, node))
        return fault_ret->status;
    skip_space(&scan);
    if (scan.at != scan.size)
        return fail(&scan, scan.at, 0, "text after the end of the configuration");
    enum trail_status status = trail_config_index_sort(index_ret, &first, &repeated);
    if (status == TRAIL_BAD_INPUT)
        return fail_repeated(&scan, first, repeated);
    if (status)
        fail(&scan, 0, UINT32_MAX, "out of memory");
    return fault_ret->status = status;
}
