"""Parameters of each layer of three models, in order, reckoned from their published architectures.

A layer is a convolution with its batch normalisation (ResNet-50), a convolution or a fully
connected layer (VGG16), or the embeddings, an encoder layer or the pooler (BERT-large).
"""


def resnet50():
    """He et al., Deep Residual Learning for Image Recognition, CVPR 2016: 53 convolutions, 1 fc."""

    def convolution(size, inputs, outputs):
        return size * size * inputs * outputs + 2 * outputs  # no bias, but scale and shift

    layers = [convolution(7, 3, 64)]
    inputs = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            layers += [
                convolution(1, inputs, width),
                convolution(3, width, width),
                convolution(1, width, 4 * width),
            ]
            if block == 0:
                layers.append(convolution(1, inputs, 4 * width))
            inputs = 4 * width
    return [*layers, 2048 * 1000 + 1000]


def vgg16():
    """Simonyan and Zisserman, ICLR 2015, configuration D: 13 convolutions, 3 fully connected."""
    layers = []
    inputs = 3
    for outputs, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            layers.append(9 * inputs * outputs + outputs)
            inputs = outputs
    return [
        *layers,
        *(a * b + b for a, b in ((7 * 7 * 512, 4096), (4096, 4096), (4096, 1000))),
    ]


def bert_large():
    """Devlin et al., NAACL 2019: 24 encoder layers of width 1024, a vocabulary of 30522."""
    width, inner = 1024, 4096
    normalisation = 2 * width
    embeddings = (30522 + 512 + 2) * width + normalisation
    attention = 4 * (width * width + width) + normalisation
    feed_forward = width * inner + inner + inner * width + width + normalisation
    pooler = width * width + width
    return [embeddings, *[attention + feed_forward] * 24, pooler]
