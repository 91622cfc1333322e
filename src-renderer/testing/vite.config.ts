import VueI18n from '@intlify/unplugin-vue-i18n/vite'
import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

const here = new URL('.', import.meta.url).pathname
const renderer = new URL('..', import.meta.url).pathname

/** Development only: the page on the fake client. `npx vite --config src-renderer/testing/vite.config.ts` */
export default defineConfig({
  root: here,
  publicDir: false,
  cacheDir: `${here}../../node_modules/.cache/vite-testing`,
  // Found late, each of these would reload the page.
  optimizeDeps: { include: ['echarts/core', 'echarts/charts', 'echarts/components', 'echarts/renderers', 'naive-ui'] },
  server: { host: '127.0.0.1', fs: { allow: [`${here}../..`] } },
  resolve: { alias: { '@contract': `${here}../../src-main/contract/index.ts`, '@': renderer.replace(/\/$/, '') } },
  plugins: [vue(), VueI18n({ include: `${renderer}shared/i18n/locales/**`, runtimeOnly: true })]
})
