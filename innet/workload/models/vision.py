"""Image models for ImageNet's 224 x 224 pixels and 1000 classes, layer by layer.

A layer is a convolution with its batch normalisation, a fully connected layer, or the attention
or feed-forward half of a transformer block; tensors are in torchvision's order.
"""

from innet.workload.model import Layer, Model
from innet.workload.models.parts import layer, matrix, norm, pre_norm_block, stack

_CLASSES = 1000


def _convolution(
    name: str, kernel: int, inputs: int, outputs: int, side: int, batch_norm: bool
) -> Layer:
    """A square convolution whose output has `side` x `side` places."""
    weights = kernel * kernel * inputs * outputs
    tensors = (weights, *norm(outputs)) if batch_norm else (weights, outputs)
    return layer(name, tensors, 2 * weights * side * side)


def resnet50() -> Model:
    """He et al., Deep Residual Learning for Image Recognition, CVPR 2016.

    A block's stride is on its 3 x 3 convolution, as in torchvision.
    """
    layers = [_convolution("conv1", 7, 3, 64, 112, True)]
    inputs, side = 64, 56
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3)), start=1):
        for block in range(blocks):
            before = side
            side = side // 2 if stage > 1 and block == 0 else side
            layers += _bottleneck(f"layer{stage}.{block}", inputs, width, before, side, block == 0)
            inputs = 4 * width
    return Model("resnet50", (*layers, *stack("fc", (2048, _CLASSES))))


def _bottleneck(
    name: str, inputs: int, width: int, before: int, side: int, shortcut: bool
) -> list[Layer]:
    layers = [
        _convolution(f"{name}.conv1", 1, inputs, width, before, True),
        _convolution(f"{name}.conv2", 3, width, width, side, True),
        _convolution(f"{name}.conv3", 1, width, 4 * width, side, True),
    ]
    if shortcut:
        layers.append(_convolution(f"{name}.downsample", 1, inputs, 4 * width, side, True))
    return layers


def vgg16() -> Model:
    """Simonyan and Zisserman, ICLR 2015, configuration D."""
    return _vgg("vgg16", (2, 2, 3, 3, 3))


def vgg19() -> Model:
    """Simonyan and Zisserman, ICLR 2015, configuration E."""
    return _vgg("vgg19", (2, 2, 4, 4, 4))


def _vgg(name: str, convolutions: tuple[int, ...]) -> Model:
    layers: list[Layer] = []
    inputs, side = 3, 224
    for outputs, count in zip((64, 128, 256, 512, 512), convolutions, strict=True):
        for _ in range(count):
            layers.append(
                _convolution(f"conv{len(layers) + 1}", 3, inputs, outputs, side, batch_norm=False)
            )
            inputs = outputs
        side //= 2
    return Model(name, (*layers, *_classifier(512 * 7 * 7)))


def _classifier(inputs: int) -> tuple[Layer, ...]:
    """The three fully connected layers of AlexNet and VGG."""
    return stack("fc", (inputs, 4096, 4096, _CLASSES))


def alexnet() -> Model:
    """Krizhevsky, One weird trick for parallelizing convolutional neural networks, 2014."""
    shapes = ((11, 3, 64, 55), (5, 64, 192, 27), (3, 192, 384, 13), (3, 384, 256, 13))
    last = (3, 256, 256, 13)
    layers = [
        _convolution(f"conv{place}", *shape, batch_norm=False)
        for place, shape in enumerate((*shapes, last), start=1)
    ]
    return Model("alexnet", (*layers, *_classifier(256 * 6 * 6)))


def vit_b_16() -> Model:
    """Dosovitskiy et al., An Image is Worth 16x16 Words, ICLR 2021: ViT-Base, patches of 16."""
    width, inner, patches = 768, 3072, (224 // 16) ** 2
    length = patches + 1
    patch = 16 * 16 * 3
    embedding = (width, *matrix(patch, width), length * width)
    layers = [layer("embedding", embedding, 2 * patches * patch * width)]
    for block in range(12):
        layers += pre_norm_block(f"block{block}", length, width, inner)
    head = layer("head", (*norm(width), *matrix(width, _CLASSES)), 2 * width * _CLASSES)
    return Model("vit_b_16", (*layers, head))
