"""Results that notebooks display alive: moved by mouse and sliders, with a static picture where no
widget runs."""

from __future__ import annotations

from .conveniences import find_convenience


class LiveDisplayed:
    """A mechanism or a motion of one, which notebooks display by the live viewer."""

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> dict[str, object] | tuple[dict[str, object], dict[str, object]]:
        """The live view for Jupyter, and what is shown where no widget runs."""
        bundle: dict[str, object] = find_convenience("LiveDisplayed._repr_mimebundle_")(self)
        return bundle

    def _display_(self) -> object:
        """The live view for marimo."""
        shown: object = find_convenience("LiveDisplayed._display_")(self)
        return shown
