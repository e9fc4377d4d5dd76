"""All planted defects by name, in boxes, other tables and files."""

from tests.validate.box_defects import BOX_DEFECTS
from tests.validate.image_defects import IMAGE_DEFECTS
from tests.validate.table_defects import TABLE_DEFECTS

DEFECTS = BOX_DEFECTS | TABLE_DEFECTS | IMAGE_DEFECTS
assert len(DEFECTS) == len(BOX_DEFECTS) + len(TABLE_DEFECTS) + len(IMAGE_DEFECTS), "two defects have the same name"
