import prettier from 'eslint-config-prettier'
import pluginVue from 'eslint-plugin-vue'
import { defineConfigWithVueTs, vueTsConfigs } from '@vue/eslint-config-typescript'
import ts from 'typescript'

/*
 * TypeScript would read template and style of a component as code too, find other imports than in the script that the linter hands it later, and
 * build the program anew for each component: 30 s of processor time. So it reads the scripts alone.
 */
const readFile = ts.sys.readFile
ts.sys.readFile = (path, encoding) => {
  const text = readFile(path, encoding)
  if (text === undefined || !path.endsWith('.vue')) return text
  return [...text.matchAll(/^<script\b[^>]*>(.*?)^<\/script>/gms)].map(([, script]) => script).join('')
}

export default defineConfigWithVueTs(
  { ignores: ['out/**', 'dist/**', 'node_modules/**', '.cache/**', 'coverage/**', 'resources/**'] },
  // There while electron-vite reads its configuration.
  { ignores: ['electron.vite.config.ts.*.mjs'] },
  pluginVue.configs['flat/recommended'],
  vueTsConfigs.recommendedTypeChecked,
  prettier,
  {
    rules: {
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', destructuredArrayIgnorePattern: '^_' }
      ],
      // Time and chance come from the injected Clock; kernel/clock.ts is the one place that touches them.
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: 'Use the injected Clock.' },
        { object: 'Math', property: 'random', message: 'Use the injected Clock.' },
        { object: 'Promise', property: 'withResolvers', message: 'The package runs on Node 20, which has it not.' }
      ]
    }
  },
  {
    files: ['src-main/kernel/clock.ts', 'src-renderer/**', 'test/**', 'scripts/**', '**/*.test.ts'],
    rules: { 'no-restricted-properties': 'off' }
  },
  { files: ['**/*.{js,mjs,cjs}'], extends: [vueTsConfigs.disableTypeChecked] },
  { files: ['src-renderer/**/*.vue'], rules: { 'vue/multi-word-component-names': 'off' } }
)
