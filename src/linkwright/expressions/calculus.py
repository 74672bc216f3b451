"""Derivatives of syntax trees, and changes of names in them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from ..errors import ExpressionError
from .tree import (
    ONE,
    PI,
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate_expression,
)

_NUMBER_TWO = Number(Fraction(2))


def differentiate_expression(
    expression: Expression, of_name: Callable[[str], Expression]
) -> Expression:
    """The derivative of an expression; `of_name` returns the derivative of a name."""

    def differentiate_expression_node(node: Expression) -> Expression:
        match node:
            case Number() | Name("pi"):
                return ZERO
            case Name(name):
                return of_name(name)
            case Negation(operand):
                return negate_expression(differentiate_expression_node(operand))
            case Sum(terms):
                return sum_expression([differentiate_expression_node(term) for term in terms])
            case Product(factors):
                terms_of_product = [
                    product_expression(
                        [*factors[:i], differentiate_expression_node(factor), *factors[i + 1 :]]
                    )
                    for i, factor in enumerate(factors)
                ]
                return sum_expression(terms_of_product)
            case Reciprocal(operand):
                return negate_expression(
                    product_expression(
                        [
                            differentiate_expression_node(operand),
                            Reciprocal(Power(operand, _NUMBER_TWO)),
                        ]
                    )
                )
            case Power(base, Number(n)):
                below = base if n == 2 else Power(base, Number(n - 1))
                return product_expression([Number(n), below, differentiate_expression_node(base)])
            case Call(function, (argument,)) if function in _FUNCTION_DERIVATIVES:
                return product_expression(
                    [
                        _FUNCTION_DERIVATIVES[function](argument),
                        differentiate_expression_node(argument),
                    ]
                )
            case _:
                raise ExpressionError("the derivative of an expression cannot be formed")

    return differentiate_expression_node(expression)


_FUNCTION_DERIVATIVES: dict[str, Callable[[Expression], Expression]] = {
    "sin": lambda x: Call("cos", (x,)),
    "cos": lambda x: negate_expression(Call("sin", (x,))),
    "tan": lambda x: Reciprocal(Power(Call("cos", (x,)), _NUMBER_TWO)),
    "sqrt": lambda x: Product((Number(Fraction(1, 2)), Reciprocal(Call("sqrt", (x,))))),
    "exp": lambda x: Call("exp", (x,)),
    "log": lambda x: Reciprocal(x),
}


def sum_expression(terms: list[Expression]) -> Expression:
    """The sum of the terms, without zeros."""
    kept = tuple(term for term in terms if term != ZERO)
    return Sum(kept) if len(kept) > 1 else kept[0] if kept else ZERO


def product_expression(factors: list[Expression]) -> Expression:
    """The product of the factors, without ones; zero if a factor is zero."""
    if ZERO in factors:
        return ZERO
    kept = tuple(factor for factor in factors if factor != ONE)
    return Product(kept) if len(kept) > 1 else kept[0] if kept else ONE


def rename_expression_names(expression: Expression, rename: Callable[[str], str]) -> Expression:
    """The expression with each name but pi replaced by `rename(name)`."""

    def rename_in_expression_node(node: Expression) -> Expression:
        match node:
            case Name(name):
                return node if name == PI else Name(rename(name))
            case Negation(operand):
                return Negation(rename_in_expression_node(operand))
            case Reciprocal(operand):
                return Reciprocal(rename_in_expression_node(operand))
            case Sum(terms):
                return Sum(tuple(rename_in_expression_node(term) for term in terms))
            case Product(factors):
                return Product(tuple(rename_in_expression_node(factor) for factor in factors))
            case Power(base, exponent):
                return Power(rename_in_expression_node(base), rename_in_expression_node(exponent))
            case Call(function, arguments):
                return Call(
                    function, tuple(rename_in_expression_node(argument) for argument in arguments)
                )
            case NumberWithUnit(value, unit):
                return NumberWithUnit(rename_in_expression_node(value), unit)
            case _:
                return node

    return rename_in_expression_node(expression)
