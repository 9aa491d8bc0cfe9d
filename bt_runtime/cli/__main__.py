from bt_runtime.cli import main

raise SystemExit(main())
