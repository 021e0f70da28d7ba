/* roff.c -- text as man(7) source. */
#include "agent/help/roff.h"

#include <ctype.h>
#include <string.h>

#include "agent/help/wrap.h"
#include "backtrail/backtrail.h"

#define LINE_WIDTH 72

static const char *escape_of(char c)
{
    switch (c) {
    case '\\':
        return "\\e";
    case '-': /* as it is typed, and no place to break a line */
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

/* Returns how many columns it took. */
static size_t write_escaped(FILE *to, const char *text, size_t size)
{
    size_t columns = size;
    for (size_t i = 0; i < size; i++) {
        const char *escape = escape_of(text[i]);
        if (!escape) {
            putc(text[i], to);
            continue;
        }
        fputs(escape, to);
        columns += strlen(escape) - 1;
    }
    return columns;
}

void roff_text(FILE *to, const char *text, size_t size)
{
    const char *end = text + size;
    size_t column = 0;
    while (text < end) {
        size_t length = 0;
        while (text + length < end && text[length] != ' ' && text[length] != '\n')
            length++;
        if (length && column && column + length > LINE_WIDTH) {
            putc('\n', to);
            column = 0;
        }
        if (length && column)
            column += (size_t)fprintf(to, " ");
        if (length && !column && *text == '.')
            fputs("\\&", to); /* no request */
        column += write_escaped(to, text, length);
        text += length + 1;
    }
    putc('\n', to);
}

static void write_capital(FILE *to, const char *text)
{
    putc(toupper((unsigned char)text[0]), to);
    write_escaped(to, text + 1, strlen(text + 1));
}

void roff_sentence(FILE *to, const char *text)
{
    write_capital(to, text);
    fputs(".\n", to);
}

void roff_font(FILE *to, char font, const char *text)
{
    if (!*text)
        return;
    if (font != 'R')
        fprintf(to, "\\f%c", font);
    write_escaped(to, text, strlen(text));
    if (font != 'R')
        fputs("\\fR", to);
}

/* Letters of a name that the reader puts something in for: TRACE, PLUGIN_NAME. */
static size_t capitals(const char *text)
{
    size_t size = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return size > 1 || (size == 1 && !strchr("abcdefghijklmnopqrstuvwxyz", text[1]))
               ? size
               : 0;
}

void roff_synopsis(FILE *to, const char *text)
{
    char word[64];
    while (*text) {
        size_t size = capitals(text);
        char font = 'I';
        if (!size) {
            size = strcspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ[]| ");
            font = 'B';
        }
        if (!size) {
            size = 1;
            font = 'R';
        }
        size = size < sizeof(word) ? size : sizeof(word) - 1;
        snprintf(word, sizeof(word), "%.*s", (int)size, text);
        roff_font(to, strcmp(word, "...") == 0 ? 'R' : font, word);
        text += size;
    }
}

void roff_title(FILE *to, const char *page, int section)
{
    fputs(".\\\" Made by `backtrail help --man`: change the tables it is made from.\n"
          ".TH ",
          to);
    for (; *page; page++)
        if (*page == '-')
            fputs("\\-", to);
        else
            putc(toupper((unsigned char)*page), to);
    fprintf(to, " %d \"" BACKTRAIL_RELEASE_DATE "\" \"Backtrail %s\" \"Backtrail\"\n",
            section, TRAIL_VERSION);
}

void roff_subsection(FILE *to, const char *title)
{
    fputs(".SS ", to);
    write_capital(to, title);
    putc('\n', to);
}

void roff_section(FILE *to, const char *title)
{
    fprintf(to, ".SH %s\n", title);
}

static void roff_tag(FILE *to)
{
    fputs(".TP\n", to);
}

void roff_line(FILE *to, const char *term, const char *text)
{
    roff_tag(to);
    roff_font(to, 'B', term);
    putc('\n', to);
    roff_text(to, text, strlen(text));
}

void roff_tag_long(FILE *to)
{
    fputs(".TP 4\n", to);
}

/* Lines that stay as they are. */
static void write_literal(FILE *to, const char *text, size_t size)
{
    fputs(".nf\n", to);
    write_escaped(to, text, size);
    fputs("\n.fi\n", to);
}

void roff_paragraphs(FILE *to, const char *text, bool first)
{
    const char *start;
    size_t size;
    bool literal;
    while (wrap_paragraph(&text, &start, &size, &literal)) {
        if (!first)
            fputs(".PP\n", to);
        first = false;
        if (literal)
            write_literal(to, start, size);
        else
            roff_text(to, start, size);
    }
}
