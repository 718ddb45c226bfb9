"""python -m armillary"""

from armillary.cli import main

main()
