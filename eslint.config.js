import tseslint from 'typescript-eslint';

export default tseslint.config(
  {
    ignores: [
      '**/dist/**',
      'node_modules/**',
      'dashboard/src/api/openapi.ts',
      '.venv*/**',
      '.cache/**',
      '.whetstone/**',
    ],
  },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        project: ['./tsconfig.json', './dashboard/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/require-await': 'off',
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts'],
    ignores: ['src/commands/terminal.ts', 'src/base/log.ts', '**/*.test.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...[
          'MemberExpression[object.object.name=process][object.property.name=/^std(out|err)$/][property.name=/^(write|end)$/]',
          'CallExpression > MemberExpression[object.name=process][property.name=/^std(out|err)$/].arguments',
          'Property > MemberExpression[object.name=process][property.name=/^std(out|err)$/].value',
        ].map((selector) => ({
          selector,
          message: 'Write with commands/terminal.ts: a server’s text must not reach a terminal as it is.',
        })),
      ],
    },
  },
  { files: ['bench/**', 'examples/**', 'scripts/**', 'test/**'], rules: { 'no-console': 'off' } },
  { files: ['**/*.js', '**/*.mjs'], ...tseslint.configs.disableTypeChecked },
);
