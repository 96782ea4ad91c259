# app/controllers/attachments_controller.rb
# frozen_string_literal: true

class AttachmentsController < ApplicationController
  before_action :require_sign_in, only: :create
  before_action :find_issue

  def create
    upload = params.file(:file, types: Attachment::TYPES, max_bytes: Attachment::LARGEST)
    uploads.keep(upload) do |key|
      Attachment.create(issue: @issue, name: upload.original_filename, kind: upload.type, size: upload.size, file: key)
    end
    redirect_to issue_path(@issue), notice: "The file is here."
  end

  def show
    attachment = @issue.attachments_dataset.with_pk!(params.integer(:id))
    send_upload attachment.file, type: attachment.kind, filename: attachment.name
  end

  private

  def find_issue = @issue = Issue.with_pk!(params.integer(:issue_id))
end
