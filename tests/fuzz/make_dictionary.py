"""python3 make_dictionary.py FILE...: the words that these files of C look for, as a dictionary of libFuzzer.

Words are the texts of string constants, so that a new key of a table is in the dictionary without anybody's doing. Texts
with a % or longer than 48 bytes are messages and not looked for.
"""

import pathlib
import re
import sys

CONSTANT = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|[0-7]{1,3}|.)")
NAMED = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "f": "\f", "b": "\b", "v": "\v", "a": "\a"}


def unescaped(text):
    def one(match):
        body = match.group(1)
        if body[0] == "x":
            return chr(int(body[1:], 16))
        return chr(int(body, 8) % 256) if body[0] in "01234567" else NAMED.get(body, body)
    return ESCAPE.sub(one, text)


def words_of(path):
    for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith(("#include", "*", "/*")):
            continue
        for text in map(unescaped, CONSTANT.findall(line)):
            for word in {text, *text.split("|")}:
                if 2 <= len(word) <= 48 and "%" not in word:
                    yield word


def quoted(word):
    return "".join(chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02x}"
                   for byte in word.encode("utf-8"))


if __name__ == "__main__":
    for word in sorted({word for path in sys.argv[1:] for word in words_of(path)}):
        print(f'"{quoted(word)}"')
