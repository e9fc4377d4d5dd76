"""The colour of each segmentation id: AirSim's own table, so that programs that know it decode our images.

Source: AirSim docs/seg_rgbs.txt (c) Microsoft Corporation, MIT licence.
256 colours, 3 hexadecimal bytes each: red, green, blue.
"""

from typing import Final

import numpy as np

from headless_simulator.scene import UInt8

_RGB_HEX: Final = (
    "000000996c067069bf597948bee140cebe3b510d2473b0c3a1ab1b87a9b41d1ac76610eff26b929cc6173159a044da74"
    "0bec09c41e0879431c003541923446e2958f977eabc22707cd78a1d4333cd350d0bd87bc3648cd67fc9d7c157b138445"
    "c3ed845efdafb6fb575aa2f2c71d01fe0ce523c4f4dca33156fed69803815c1f6acfe55a7d4b3062374a7e81eede996d"
    "559822ad451f25807d3a1321863977da7c737800c8e1835cf65a10339bf1ca619bb891b660e82c85f485b4bf1d01dec0"
    "63f2685ba8db4136d9944282cb66ccd84e4bea14fa6dce18a4c2119d17ec9e7258f5166e431123b5d55daab32a34bb94"
    "f7c86f193eae6419f0bfc390fc2443f14d95ed218d77e6551c226c4e62fe72a11e4b32f342e2fd2e684c08ead80ff166"
    "5d0e47c0ffc1fd29a418af78b9f3e7a9e961f3d791488915a07165d65c0da78c93656db535767e03b120283f63ba8b99"
    "58cf644792e3ec26bbd704d712d3427131862f2a3fdb677f39f089e385d39147c9d9adb7fa2871d07d44e0baf945942e"
    "ef55146c74e038d61ab3932b30bcacdd532f9ba6da3ed9bdc6b47ac990a984020e80bd72a3e3702d9db140568e76c1a3"
    "0e204fc82daa4a51023b25d44923e15fe02754aadc9f3aad115bed1f5f5422c9f83f49d181eb6be77328244a5feee49a"
    "3dd4360d5ea58dae008ca7ff755d5bb70abaa51c3d90eec20c9e294c6eea9609798e01f6e688c6053ce9e8fa508f7038"
    "bb469c02b93e8adfe27ab7dea6f503af068cf03bd2f82c0a535234dff8a7570f966fb275c55416ebd07c094c2db01832"
    "9a9ffb956fcfa8e70fd1f7ca50cd98b2ddd51b0826f475336b44be17c78bab58a888ca3a062e56697fb0aef9c5acac8a"
    "e48e5107ccb9163df7e9644e7f416921579e8b9cfc2a07881463b34f96df83b6b86e7b253c8a60d2605e7b301289c5a2"
    "bc120527db97cc8f87f94f494d40b229f64d109a04748613047aebb16ae615770c6805623282351ec0191aa5a60aa052"
    "6a2b832cd867ff65dd2097c4d5dc5946d1e461b85352efe8fba480c10bf5261b9fe58dcb82383793d20ba2cb76ffffff"
)

SEGMENTATION_RGB: Final[UInt8] = np.frombuffer(bytes.fromhex(_RGB_HEX), dtype=np.uint8).reshape(256, 3)
"""(256, 3) red, green, blue of each segmentation id."""
