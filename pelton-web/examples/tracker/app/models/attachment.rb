# app/models/attachment.rb
# frozen_string_literal: true

class Attachment < Sequel::Model
  TYPES = %w[image/png image/jpeg application/pdf text/plain].freeze
  LARGEST = 5 << 20 # bytes

  many_to_one :issue

  def validate
    super
    validates_presence [:issue_id, :name, :kind, :size, :file]
  end

  # A rollback brings the row back, but no file.
  def after_destroy
    super
    db.after_commit { Tracker.settings.uploads.delete(file) }
  end
end
