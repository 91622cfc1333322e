import './csp.ts'
import '@fontsource-variable/inter'
import '@fontsource-variable/jetbrains-mono'
import './shared/theme/base.css'
import { startPage } from './app/start-page.ts'
import { openPort, socketOpener, takeToken } from './transport/link.ts'
import { createTransport } from './transport/transport.ts'

const open = window.taskdeck ? openPort : socketOpener(takeToken())
await startPage(createTransport(open))
