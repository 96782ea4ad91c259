# frozen_string_literal: true

desc "Write the reference page and the signatures of pelton serve's settings from their table"
task :settings do
  $LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
  require_relative "settings/files"
  SettingsFiles.texts.each { |path, text| File.write(path, text) }
end
