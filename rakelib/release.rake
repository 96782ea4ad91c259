# frozen_string_literal: true

namespace :release do
  desc "Build all gems, install each into an empty folder with nothing but what it declares, and run its README's " \
    "first program"
  task :check do
    require_relative "release/check"
    ReleaseCheck.new.run { |line| puts line }
  rescue Packages::Failed => problem
    abort "release:check: #{problem.message}"
  end

  desc "Build all gems into pkg/, with a list of their checksums"
  task :build do
    require "digest"
    require_relative "release/packages"
    packages = Packages.new("pkg").build
    File.write("pkg/SHA256SUMS", packages.map { |path| "#{Digest::SHA256.file(path)}  #{File.basename(path)}\n" }.join)
    puts packages
  rescue Packages::Failed => problem
    abort "release:build: #{problem.message}"
  end

  desc "Publish what release:build has built, each gem after those that it depends on (needs the registry's " \
    "credentials)"
  task :push do
    require_relative "release/packages"
    Packages.specifications.each { |spec| sh "gem", "push", "pkg/#{spec.file_name}" }
  end
end
