# frozen_string_literal: true

desc "Make the documentation site in tmp/docs; `pelton serve docs/site/config.ru` serves it"
task :docs do
  sh "bin/setup", "--quick", "docs", verbose: false
  Bundler.with_unbundled_env do
    gems = {"BUNDLE_GEMFILE" => "gemfiles/docs.rb", "BUNDLE_PATH" => File.expand_path("tmp/docs_gems")}
    sh gems, "bundle", "exec", "ruby", "docs/site/build.rb", verbose: false
  end
end
