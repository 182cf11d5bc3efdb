// Made by the plugin of that name beside vite's configuration.
declare module 'virtual:documentation' {
  const pages: readonly import('./pages.ts').DocumentationPage[];
  export default pages;
}
