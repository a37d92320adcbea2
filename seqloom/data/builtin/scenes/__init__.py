"""The built-in task `scenes`: small pictures of coloured shapes, drawn from a number, with captions and questions.

    scene:13     a large white cross above a small red cross
    scene:13     what size is the white cross ?     large

Nothing is downloaded and nothing is stored: `scene:13` means the same picture everywhere. What is in it is known, so it can be
checked where a model looks when it names a thing (`pointing_accuracy`).

Twelve combinations of a size, a colour and a shape occur in the test split only, one in each of its pictures: small red hearts,
say, though training shows small hearts, small red things and large red hearts. A model that describes them has understood that
words go together freely; one that has learnt combinations by heart fails.
"""

from seqloom.data.builtin.scenes.drawing import draw
from seqloom.data.builtin.scenes.files import SceneRoot, write_scenes
from seqloom.data.builtin.scenes.pointing import Pointing, named_boxes, pointing_accuracy, pointing_of
from seqloom.data.builtin.scenes.questions import Question, questions
from seqloom.data.builtin.scenes.splits import PICTURES, Split, examples, question_examples, split_of
from seqloom.data.builtin.scenes.things import COLOURS, HELD_OUT, SHAPES, Box, Mention, Scene, Thing, scene

__all__ = [
    "COLOURS",
    "HELD_OUT",
    "PICTURES",
    "SHAPES",
    "Box",
    "Mention",
    "Pointing",
    "Question",
    "Scene",
    "SceneRoot",
    "Split",
    "Thing",
    "draw",
    "examples",
    "named_boxes",
    "pointing_accuracy",
    "pointing_of",
    "question_examples",
    "questions",
    "scene",
    "split_of",
    "write_scenes",
]
