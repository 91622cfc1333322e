import { resolve } from 'node:path'
import VueI18n from '@intlify/unplugin-vue-i18n/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'electron-vite'

const root = import.meta.dirname
// The lowest runtimes that the build must run on (the provisioned test runtime is Electron 33.2.1).
const nodeTarget = 'node20.18'
const chromeTarget = 'chrome130'

export default defineConfig({
  main: {
    build: {
      outDir: resolve(root, 'out/main'),
      target: nodeTarget,
      sourcemap: true,
      externalizeDeps: true,
      rolldownOptions: {
        input: {
          index: resolve(root, 'src-main/shells/electron/index.ts'),
          server: resolve(root, 'src-main/shells/server/index.ts'),
          worker: resolve(root, 'src-main/app/worker-process.ts'),
          status: resolve(root, 'src-main/app/status-process.ts'),
          'handler-thread': resolve(root, 'src-main/queue/pool/handler-thread.ts')
        },
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared/[name]-[hash].js' }
      }
    }
  },
  preload: {
    build: {
      outDir: resolve(root, 'out/preload'),
      target: nodeTarget,
      externalizeDeps: false, // a sandboxed preload cannot load packages
      rolldownOptions: {
        input: { index: resolve(root, 'src-main/shells/electron/preload.ts') },
        output: { format: 'cjs', entryFileNames: '[name].cjs' }
      }
    }
  },
  renderer: {
    root: resolve(root, 'src-renderer'),
    publicDir: false,
    html: { cspNonce: '__CSP_NONCE__' },
    resolve: {
      alias: { '@contract': resolve(root, 'src-main/contract/index.ts'), '@': resolve(root, 'src-renderer') }
    },
    plugins: [vue(), VueI18n({ include: resolve(root, 'src-renderer/shared/i18n/locales/**'), runtimeOnly: true })],
    build: {
      outDir: resolve(root, 'out/renderer'),
      target: chromeTarget,
      minify: true,
      modulePreload: { polyfill: false },
      assetsInlineLimit: 0, // the page's policy takes fonts from files only, not from data: addresses
      rolldownOptions: { input: resolve(root, 'src-renderer/index.html') }
    }
  }
})
