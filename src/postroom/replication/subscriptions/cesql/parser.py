"""The parser: from tokens to a syntax tree, by precedence climbing; depth and length are bounded."""

from __future__ import annotations

from postroom.replication.subscriptions.cesql import syntax_tree
from postroom.replication.subscriptions.cesql.errors import ExpressionRefused
from postroom.replication.subscriptions.cesql.lexer import Token, tokens
from postroom.replication.subscriptions.cesql.like_patterns import parse_pattern
from postroom.replication.subscriptions.cesql.syntax_tree import Node

LONGEST = 16_384
DEEPEST = 64
LOWEST, HIGHEST = -(2**31), 2**31 - 1

# How strongly an operator binds. Equals go from left to right, AND, OR and XOR too (CESQL 3.6).
_UNARY, _LIKE, _IN = 70, 60, 50
_BINARY = {
    **dict.fromkeys(("*", "/", "%"), 40),
    **dict.fromkeys(("+", "-"), 30),
    **dict.fromkeys(("=", "!=", "<>", ">=", "<=", ">", "<"), 20),
    **dict.fromkeys(("AND", "OR", "XOR"), 10),
}


def parse_expression(expression: str) -> Node:
    """The expression as a value, or ExpressionRefused with a sentence that names the position."""
    if len(expression) > LONGEST:
        raise ExpressionRefused(f"it has {len(expression)} characters, {LONGEST} are the most")
    node = _Parser(list(tokens(expression))).whole()
    _check_depth(node)
    return node


def _check_depth(whole: Node) -> None:
    """Refuse what an evaluation would have to descend too far into; chains of operators are walked, not descended."""
    waiting: list[tuple[Node, int]] = [(whole, 0)]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise _too_deep()
        if isinstance(node, syntax_tree.Binary):
            waiting += [(node.left, depth), (node.right, depth + 1)]
        elif isinstance(node, syntax_tree.Unary | syntax_tree.Like):
            waiting.append((node.operand, depth + 1))
        elif isinstance(node, syntax_tree.In):
            waiting += [(inner, depth + 1) for inner in (node.operand, *node.members)]
        elif isinstance(node, syntax_tree.Invocation):
            waiting += [(argument, depth + 1) for argument in node.arguments]


def _too_deep() -> ExpressionRefused:
    return ExpressionRefused(f"it is nested deeper than {DEEPEST} levels")


class _Parser:
    def __init__(self, found: list[Token]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._expression(0)
        if self._next.kind != "end":
            raise self._unexpected("the end")
        return node

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _takes(self, text: str) -> bool:
        """Whether the next token is that keyword or symbol; if so it is taken."""
        is_it = self._next.kind in ("keyword", "symbol") and self._next.text == text
        self._at += is_it
        return is_it

    def _expect(self, text: str) -> None:
        if not self._takes(text):
            raise self._unexpected(f"`{text}`")

    def _unexpected(self, wanted: str) -> ExpressionRefused:
        token = self._next
        found = "the end" if token.kind == "end" else f"`{token.text}`"
        return ExpressionRefused(f"at position {token.at + 1} there is {found} where {wanted} should be")

    def _expression(self, strength: int) -> Node:
        self._depth += 1
        if self._depth > DEEPEST:
            raise _too_deep()
        node = self._operations(self._operand(), strength)
        self._depth -= 1
        return node

    def _operations(self, node: Node, strength: int) -> Node:
        while True:
            token = self._next
            if token.kind not in ("keyword", "symbol"):
                return node
            if token.text in ("LIKE", "IN", "NOT"):
                tested = self._test(node, strength)
                if tested is None:
                    return node
                node = tested
            elif _BINARY.get(token.text, 0) > strength:
                self._take()
                node = syntax_tree.Binary(token.text, node, self._expression(_BINARY[token.text]))
            else:
                return node

    def _test(self, node: Node, strength: int) -> Node | None:
        """`[NOT] LIKE pattern` or `[NOT] IN (…)` behind an operand; None where it belongs to a weaker one."""
        negated = self._next.text == "NOT"
        operator = self._tokens[self._at + negated]
        if operator.kind != "keyword" or operator.text not in ("LIKE", "IN"):
            raise self._unexpected("an operator")
        if (_LIKE if operator.text == "LIKE" else _IN) <= strength:
            return None
        self._at += 1 + negated
        if operator.text == "IN":
            self._expect("(")
            return syntax_tree.In(node, self._list(), negated)
        if self._next.kind != "text":
            raise self._unexpected("a text")
        return syntax_tree.Like(node, parse_pattern(self._take().text), negated)

    def _operand(self) -> Node:
        if self._takes("NOT"):
            return syntax_tree.Unary("NOT", self._expression(_UNARY))
        if self._takes("EXISTS"):
            return syntax_tree.Exists(self._attribute())
        if self._takes("("):
            node = self._expression(0)
            self._expect(")")
            return node
        if self._next.text in ("+", "-") and self._next.kind == "symbol":
            return self._signed()
        return self._atom()

    def _signed(self) -> Node:
        """A sign right before digits is part of the number; any other minus is an operator."""
        sign = self._take()
        number = self._next
        if number.kind == "integer" and number.at == sign.at + 1:
            return syntax_tree.Literal(self._integer(sign.text))
        if sign.text == "+":
            raise self._unexpected("a number")
        return syntax_tree.Unary("-", self._expression(_UNARY))

    def _atom(self) -> Node:
        token = self._next
        if token.kind == "text":
            return syntax_tree.Literal(self._take().text)
        if token.kind == "integer":
            return syntax_tree.Literal(self._integer(""))
        if token.text in ("TRUE", "FALSE") and token.kind == "keyword":
            return syntax_tree.Literal(self._take().text == "TRUE")
        if token.kind == "word" and self._tokens[self._at + 1].text == "(" and token.text[0].isalpha():
            self._at += 2
            return syntax_tree.Invocation(token.text.upper(), () if self._takes(")") else self._list())
        return syntax_tree.AttributeReference(self._attribute())

    def _integer(self, sign: str) -> int:
        digits = self._next.text
        value = int(sign + digits) if len(digits) < 20 else HIGHEST + 1
        if not LOWEST <= value <= HIGHEST:
            raise ExpressionRefused(f"{sign}{digits[:20]} is no integer of 32 bits")
        self._take()
        return value

    def _attribute(self) -> str:
        token = self._next
        # A name of digits alone is a number, wherever an attribute could be.
        if token.kind != "word" or "_" in token.text:
            raise self._unexpected("an attribute, a value or a function")
        return self._take().text.lower()

    def _list(self) -> tuple[Node, ...]:
        members = [self._expression(0)]
        while self._takes(","):
            members.append(self._expression(0))
        self._expect(")")
        return tuple(members)
