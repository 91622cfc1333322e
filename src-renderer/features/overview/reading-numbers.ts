export * from '@/shared/figures/reading-numbers.ts'
