# frozen_string_literal: true

desc "Make the documentation site: tmp/docs/index.html"
task :docs do
  Bundler.with_unbundled_env do
    ENV.update("BUNDLE_WITH" => "docs", "BUNDLE_SILENCE_ROOT_WARNING" => "1")
    sh "bundle check >/dev/null 2>&1 || bundle install --quiet", verbose: false
    sh "bundle", "exec", "rake", "docs:build", verbose: false
  end
end

task "docs:build" do
  require "./docs/site/builder"
  require "./docs/site/checker"
  pages = Site::Builder.new(Dir.pwd).build("tmp/docs")
  dead = Site::Checker.new("tmp/docs", Dir.pwd).dead
  abort ["dead links:", *dead].join("\n") if dead.any?
  puts "#{pages.size} pages: tmp/docs/index.html"
end
